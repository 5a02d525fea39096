package dev.interlock.internal.semaphore;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreEffect.Ask;
import dev.interlock.internal.semaphore.SemaphoreEffect.Insist;
import dev.interlock.internal.semaphore.SemaphoreEffect.LookAgain;
import dev.interlock.internal.semaphore.SemaphoreEvents.Reply;
import dev.interlock.internal.semaphore.SemaphoreState.Statement;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How threads wait for permits, get them and release them, as a state that only events change. */
class SemaphoreStateTest {
    private final SemaphoreEvents events = SemaphoreEvents.owned();

    // ---- wants and grants

    @Test
    void whatTheNextWaiterNeedsIsAskedForAtOnce() {
        events.waits(2);
        assertThat(events.tells().wanted()).isEqualTo(2);
        events.waits(2);
        assertThat(events.isTold()).isFalse();
        assertThat(events.state.isWaiting()).isTrue();
        assertThat(events.state.isLeased()).as("its place in the queue").isTrue();
    }

    @Test
    void aGrantGoesToTheWaiter() {
        Waiter waiter = events.waits(2);
        events.tells();
        events.answer(Reply.open(2));
        assertThat(events.stock.permits).isEqualTo(2);
        assertThat(events.comesOut(waiter)).isTrue();
        assertThat(events.local.holdings.valid()).isEqualTo(2);
        assertThat(events.local.holdings.isEmpty()).isFalse();
        assertThat(events.state.isLeased()).isTrue();
        assertThat(events.state.isWaiting()).isFalse();
    }

    @Test
    void aGrantInVainGoesBack() {
        Waiter waiter = events.waits(2);
        events.tells();
        events.leaves(waiter);
        assertThat(events.tells().wanted()).isZero();
        events.answer(Reply.open(2));
        assertThat(events.stock.permits).isZero();
        assertThat(events.effects()).contains(new Insist());
        assertThat(events.say().returned()).isEqualTo(2);
        assertThat(events.state.isLeased()).isFalse();
    }

    @Test
    void anUnfairThreadBargesUntilTheSliceIsOver() {
        Waiter waiter = events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        assertThat(events.acquiresAtOnce(1)).isTrue();
        assertThat(events.tells().wanted()).isEqualTo(2);
        events.answer(Reply.open(2));
        events.passes(SemaphoreEvents.SLICE);
        assertThat(events.acquiresAtOnce(1)).isFalse();
        assertThat(events.comesOut(waiter)).isTrue();
    }

    @Test
    void aFairThreadQueues() {
        SemaphoreEvents fair = SemaphoreEvents.fair();
        Waiter first = fair.waits(1);
        fair.tells();
        fair.answer(Reply.open(1));
        Waiter second = fair.waits(1);
        assertThat(fair.comesOut(first)).isTrue();
        assertThat(fair.tells().wanted()).isEqualTo(2);
        fair.answer(Reply.open(2));
        assertThat(fair.comesOut(second)).isTrue();
    }

    @Test
    void aFairThreadThatOnlyAsksDoesNotBarge() {
        SemaphoreEvents fair = SemaphoreEvents.fair();
        assertThat(asksInTurn(fair).verb).isEqualTo(Verb.TAKE_IN_TURN);
        assertThat(fair.tells().operation()).isNotNull();
        // What was heard of other sessions may have changed: only Redis knows.
        fair.state.demanded(fair.version());
        assertThat(fair.result(asksInTurn(fair))).isNotDone();
        fair.say();
        fair.waits(1);
        fair.say();
        Operation refused = asksInTurn(fair);
        assertThat(fair.result(refused)).isCompletedWithValue(-1);
        assertThat(fair.local.end(refused, fair.now)).isTrue();
        assertThat(fair.isTold()).isFalse();
        events.waits(1);
        assertThat(asksInTurn(events).verb).isEqualTo(Verb.TAKE);
    }

    private static Operation asksInTurn(SemaphoreEvents by) {
        return requireNonNull(by.local.tryAcquireInTurn(1, by.now));
    }

    @Test
    void aRequestForNoPermitsIsServedWithoutRedis() {
        assertThat(events.acquiresAtOnce(0)).isTrue();
        assertThat(events.isTold()).isFalse();
    }

    // ---- waiters that want different numbers

    @Test
    void permitsThatDoNotServeTheFirstParkedThreadGoBack() {
        Waiter three = events.waits(3);
        events.tells();
        events.waits(1);
        events.answer(Reply.open(3));
        assertThat(events.comesOut(three)).isTrue();
        assertThat(events.tells().wanted()).isEqualTo(4);
        events.waits(2);
        events.answer(Reply.open(4));
        assertThat(events.stock.permits).isEqualTo(1);
    }

    @Test
    void theOrderOfThreadsThatAreAboutToParkIsLookedAtAgain() {
        Waiter three = events.comes(3);
        Waiter one = events.comes(1);
        assertThat(events.effects()).contains(new LookAgain());
        events.waits(1);
        assertThat(events.effects()).doesNotContain(new LookAgain());
        events.stock.parked.addAll(List.of(one.who, three.who));
        events.local.lookAgain();
        assertThat(events.tells().wanted()).isEqualTo(1);
    }

    @Test
    void aGrantServesParkedThreadsAndThoseThatAreAboutToPark() {
        events.waits(1);
        events.tells();
        events.comes(2);
        events.answer(Reply.open(1));
        assertThat(events.tells().wanted()).isEqualTo(3);
        assertThat(events.stock.permits).isEqualTo(1);
        events.answer(Reply.open(3));
        assertThat(events.stock.permits).isEqualTo(3);
        assertThat(events.say().wanted()).isEqualTo(3);
    }

    @Test
    void aThreadThatIsParkedAndNotRegisteredDoesNotCount() {
        events.stock.parked.add(new Thread(() -> {}));
        events.waits(2);
        events.waits(1);
        assertThat(events.tells().wanted()).isEqualTo(2);
    }

    @Test
    void aSurplusThatAThreadHasTakenMeanwhileIsLookedAtAgain() {
        Waiter first = events.waits(1);
        events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        events.takes(first);
        events.leaves(first);
        // Permits of the supply are with a thread that hasn't reported yet.
        assertThat(events.effects()).doesNotContain(new LookAgain());
        SemaphoreEvents alone = SemaphoreEvents.owned();
        Waiter taker = alone.waits(1);
        Waiter other = alone.waits(1);
        alone.tells();
        alone.answer(Reply.open(1));
        alone.takes(taker);
        alone.leaves(other);
        assertThat(alone.effects()).doesNotContain(new LookAgain());
        alone.local.withdraw(taker);
        assertThat(alone.effects()).contains(new LookAgain());
    }

    // ---- release

    @Test
    void aReleasedPermitGoesToTheNextWaiterWithoutRedis() {
        events.acquire(1);
        Waiter next = events.waits(1);
        events.tells();
        events.local.release(1, events.now);
        assertThat(events.effects()).doesNotContain(new Insist());
        assertThat(events.comesOut(next)).isTrue();
        assertThat(events.say().returned()).isZero();
    }

    @Test
    void othersGetAPermitAfterTheSlice() {
        events.acquire(2);
        events.waits(1);
        events.tells();
        events.answer(Reply.open(2).contended());
        events.local.release(1, events.now);
        assertThat(events.stock.permits).isEqualTo(1);
        events.passes(SemaphoreEvents.SLICE);
        events.local.release(1, events.now);
        assertThat(events.say().returned()).isEqualTo(1);
    }

    @Test
    void othersGetAPermitOfAFairSemaphoreAtOnce() {
        SemaphoreEvents fair = SemaphoreEvents.fair();
        fair.acquire(1);
        fair.waits(1);
        fair.tells();
        fair.state.demanded(fair.version());
        fair.local.release(1, fair.now);
        assertThat(fair.stock.permits).isZero();
        assertThat(fair.tells().returned()).isEqualTo(1);
    }

    @Test
    void aPoolThatHasLessThanNoneGetsAllThatIsReleased() {
        events.acquire(2);
        events.waits(1);
        events.tells();
        events.local.reduce(7);
        assertThat(events.tells().contributed()).isEqualTo(-7);
        events.answer(Reply.open(2).available(-4));
        events.local.release(1, events.now);
        assertThat(events.stock.permits).isZero();
        assertThat(events.tells().returned()).isEqualTo(1);
    }

    @Test
    void moreThanWasAcquiredEnlargesThePool() {
        events.acquire(1);
        events.local.release(3, events.now);
        Statement said = events.tells();
        assertThat(said.returned()).isEqualTo(1);
        assertThat(said.contributed()).isEqualTo(2);
        assertThat(events.state.pool()).isEqualTo(7);
    }

    @Test
    void aReductionOfNothingIsNotSaid() {
        events.local.reduce(0);
        assertThat(events.isTold()).isFalse();
    }

    @Test
    void thePoolCannotHaveMoreOrLessThanAnInt() {
        events.acquire(2);
        assertThat(events.local.exceeds(Integer.MAX_VALUE - 3)).isFalse();
        assertThat(events.local.exceeds(Integer.MAX_VALUE - 2)).isTrue();
        assertThat(events.local.underflows(10)).isFalse();
        events.local.reduce(Integer.MAX_VALUE);
        assertThat(events.local.underflows(4)).isFalse();
        assertThat(events.local.underflows(5)).isTrue();
        events.local.release(2, events.now);
        events.local.release(Integer.MAX_VALUE, events.now);
        events.local.release(Integer.MAX_VALUE, events.now);
        assertThat(events.local.exceeds(1)).isTrue();
    }

    @Test
    void aStockThatWouldOverflowIsNotEnlarged() {
        SemaphoreEvents unowned = SemaphoreEvents.unowned();
        unowned.waits(Integer.MAX_VALUE);
        unowned.tells();
        unowned.answer(Reply.open(0).available(-1_000_000_000));
        unowned.answer(Reply.open(0).available(0));
        unowned.local.release(1_500_000_000, unowned.now);
        assertThat(unowned.stock.permits).isZero();
    }

    @Test
    void permitsOfNobodyAreReleasedWithoutHavingBeenAcquired() {
        SemaphoreEvents unowned = SemaphoreEvents.unowned();
        unowned.acquire(1);
        assertThat(unowned.local.holdings.isEmpty()).isTrue();
        assertThat(unowned.state.isLeased()).isFalse();
        unowned.local.release(3, unowned.now);
        Statement said = unowned.tells();
        assertThat(said.returned()).isZero();
        assertThat(said.contributed()).isEqualTo(3);
    }

    @Test
    void beyondSixtyFourGrantsPermitsAreAsOldAsTheLastOne() {
        for (int i = 1; i <= 66; i++) {
            Waiter waiter = events.waits(1);
            events.tells();
            events.answer(Reply.open(i).available(100));
            assertThat(events.comesOut(waiter)).isTrue();
        }
        events.passes(SemaphoreEvents.SLICE);
        events.local.release(66, events.now);
        assertThat(events.say().returned()).isEqualTo(66);
        // Permits of which no age is known count as new ones.
        Waiter waiter = events.waits(1);
        events.tells();
        events.answer(Reply.open(67).available(0).contended());
        assertThat(events.comesOut(waiter)).isTrue();
        events.waits(1);
        events.tells();
        events.local.release(1, events.now);
        assertThat(events.stock.permits).isEqualTo(1);
    }

    // ---- replies and messages

    @Test
    void aReplyTellsWhenTheLeaseOfAnotherSessionEnds() {
        events.waits(1);
        events.tells();
        events.answer(Reply.open(0).leaseEnd(200));
        assertThat(events.effects()).contains(new Ask(200));
        events.answer(Reply.open(0).leaseEnd(1_000));
        assertThat(events.effects()).doesNotHaveAnyElementsOfTypes(Ask.class);
        events.answer(Reply.open(0));
        assertThat(events.effects()).doesNotHaveAnyElementsOfTypes(Ask.class);
        events.answer(Reply.open(1).leaseEnd(200));
        assertThat(events.effects()).doesNotHaveAnyElementsOfTypes(Ask.class);
    }

    @Test
    void aMessageGrantsOnce() {
        Waiter waiter = events.waits(2);
        long epoch = events.tells().epoch();
        events.state.booked(epoch, 2, true, events.now);
        assertThat(events.isTold()).isFalse();
        assertThat(events.stock.permits).isEqualTo(2);
        events.state.booked(epoch, 2, true, events.now);
        events.answer(Reply.open(2));
        assertThat(events.stock.permits).isEqualTo(2);
        // Redis has said nothing yet of how long they are the session's.
        assertThat(events.comesOut(waiter)).isTrue();
    }

    /** The reply of a command that was sent before may be older than the message, though it arrives later. */
    @Test
    void onlyALaterCommandTellsThatNobodyWaitsAnyMore() {
        events.acquire(2);
        events.waits(1);
        events.tells();
        long sent = events.version();
        events.state.demanded(sent);
        events.answer(sent, Reply.open(2));
        assertThat(events.state.isContended()).isTrue();
        events.say();
        events.answer(Reply.open(2));
        assertThat(events.state.isContended()).isFalse();
    }

    @Test
    void aMessageOfAnotherEpochGrantsNothing() {
        events.waits(2);
        long epoch = events.tells().epoch();
        events.state.booked(epoch - 1, 2, true, events.now);
        assertThat(events.stock.permits).isZero();
        assertThat(events.isTold()).isFalse();
    }

    @Test
    void aForgedMessageGrantsNothing() {
        events.waits(2);
        long epoch = events.tells().epoch();
        events.state.booked(epoch, 100, true, events.now);
        assertThat(events.stock.permits).isZero();
        assertThat(events.isTold()).isTrue();
    }

    @Test
    void aMessageThatAFailoverMayUndoIsAReasonToAsk() {
        events.waits(2);
        long epoch = events.tells().epoch();
        events.state.booked(epoch, 2, false, events.now);
        assertThat(events.stock.permits).isZero();
        assertThat(events.isTold()).isTrue();
    }

    @Test
    void aForgedReplyIsNotRead() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> events.answer(Reply.open(0).status(7)))
                .withMessageContaining("not a status");
    }

    @Test
    void theNumberOfPermitsIsThatOfTheLastReply() {
        assertThat(events.state.permits()).isEqualTo(SemaphoreEvents.PERMITS);
        events.say();
        events.answer(Reply.open(0).permits(9).available(7));
        assertThat(events.state.permits()).isEqualTo(9);
        assertThat(events.state.pool()).isEqualTo(7);
    }
}
