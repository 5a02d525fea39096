package dev.interlock.internal.semaphore;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.internal.semaphore.Operations.Operation;
import dev.interlock.internal.semaphore.Operations.Operation.Verb;
import dev.interlock.internal.semaphore.SemaphoreEvents.Reply;
import dev.interlock.internal.semaphore.SemaphoreState.Statement;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a semaphore does once, as a state that only events change: commands and replies are lost, late and repeated. */
class SemaphoreOperationTest {
    private final SemaphoreEvents events = SemaphoreEvents.owned();

    private Operation tries(int permits) {
        return requireNonNull(events.local.tryAcquire(permits, events.now), "taken from the stock");
    }

    private boolean ends(Operation operation) {
        return events.local.end(operation, events.now);
    }

    private static void assertFails(CompletableFuture<?> result, Class<? extends Throwable> by, String words) {
        assertThatThrownBy(result::join).cause().isInstanceOf(by).hasMessageContaining(words);
    }

    @Test
    void whatThePoolHasIsTaken() {
        Operation operation = tries(2);
        Statement said = events.tells();
        assertThat(said.operation()).isSameAs(operation);
        assertThat(events.state.isWaiting()).isTrue();
        events.answer(Reply.open(0).done(said, 2));
        assertThat(events.result(operation)).isCompletedWithValue(2);
        assertThat(ends(operation)).isTrue();
        assertThat(events.local.holdings.valid()).isEqualTo(2);
        assertThat(events.state.isLeased()).isTrue();
        assertThat(events.state.isWaiting()).isFalse();
    }

    @Test
    void whatThePoolHasNotIsNotTaken() {
        Operation operation = tries(9);
        events.answer(Reply.open(0).done(events.tells(), -1));
        assertThat(events.result(operation)).isCompletedWithValue(-1);
        assertThat(ends(operation)).isTrue();
        assertThat(events.local.holdings.isEmpty()).isTrue();
    }

    @Test
    void theStockIsTakenWithoutRedis() {
        events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        assertThat(events.local.tryAcquire(1, events.now)).isNull();
        assertThat(events.local.holdings.valid()).isEqualTo(1);
        assertThat(tries(0)).isNotNull();
    }

    @Test
    void aStockOfWhichNothingIsCertainIsNotTaken() {
        events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        events.passes(SemaphoreEvents.LEASE);
        assertThat(tries(1)).isNotNull();
        assertThat(events.local.drain(events.now).fromStock).isZero();
    }

    @Test
    void aThreadThatHasTakenFromTheSuperclassIsFasterThanOneThatTries() {
        Waiter waiter = events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        events.takes(waiter);
        assertThat(tries(1)).isNotNull();
        assertThat(events.local.comeOut(waiter, true, events.now)).isTrue();
    }

    @Test
    void aLostReplyIsThatOfTheRepeatedCommand() {
        Operation operation = tries(2);
        events.tells();
        long number = operation.number;
        Statement again = events.say();
        assertThat(again.operation()).isSameAs(operation);
        assertThat(operation.number).isEqualTo(number);
        events.answer(Reply.open(0).done(again, 2));
        events.answer(Reply.open(0).done(again, 2));
        assertThat(ends(operation)).isTrue();
        assertThat(events.local.holdings.valid()).isEqualTo(2);
    }

    @Test
    void oneIsDoneAfterTheOther() {
        Operation first = tries(1);
        Operation second = tries(1);
        Statement said = events.tells();
        assertThat(said.operation()).isSameAs(first);
        events.answer(Reply.open(0));
        assertThat(events.result(first)).isNotDone();
        events.answer(Reply.open(0).done(said, 1));
        assertThat(events.result(second)).isNotDone();
        said = events.tells();
        assertThat(said.operation()).isSameAs(second);
        events.answer(Reply.open(0).done(said, 1));
        assertThat(events.result(second)).isCompletedWithValue(1);
        assertThat(events.isTold()).isFalse();
    }

    @Test
    void oneThatNobodyWaitsForIsNotSent() {
        Operation operation = tries(1);
        assertThat(ends(operation)).isFalse();
        assertThat(events.say().operation()).isNull();
    }

    @Test
    void whatComesTooLateGoesBack() {
        Operation operation = tries(2);
        Statement said = events.tells();
        assertThat(ends(operation)).isFalse();
        events.answer(Reply.open(0).done(said, 2));
        assertThat(events.tells().returned()).isEqualTo(2);
        assertThat(events.local.holdings.isEmpty()).isTrue();
        Operation look = events.local.look();
        said = events.tells();
        assertThat(ends(look)).isFalse();
        events.answer(Reply.open(0).done(said, 3));
        assertThat(events.isTold()).isFalse();
    }

    @Test
    void allThatIsThereIsDrained() {
        Waiter waiter = events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        Operation operation = events.local.drain(events.now);
        assertThat(operation.fromStock).isEqualTo(1);
        Statement said = events.tells();
        assertThat(said.operation()).isSameAs(operation);
        assertThat(operation.verb).isEqualTo(Verb.DRAIN);
        // The thread that was woken for the permit goes on waiting.
        assertThat(said.wanted()).isEqualTo(2);
        events.answer(Reply.open(1).done(said, 4));
        assertThat(ends(operation)).isTrue();
        assertThat(events.local.holdings.valid()).isEqualTo(5);
        events.answer(Reply.open(2));
        assertThat(events.comesOut(waiter)).isTrue();
    }

    @Test
    void whatHasComeUpSinceCountsWhenAThreadLooks() {
        events.acquire(2);
        Operation operation = events.local.look();
        Statement said = events.tells();
        events.local.release(2, events.now);
        events.waits(3);
        events.answer(Reply.open(3).done(said, 3));
        assertThat(events.result(operation)).isCompletedWithValue(5);
        assertThat(ends(operation)).isTrue();
    }

    @Test
    void permitsThatNoThreadHasCountWhenAThreadLooks() {
        events.waits(1);
        events.tells();
        events.answer(Reply.open(1));
        Operation operation = events.local.look();
        events.answer(Reply.open(1).done(events.tells(), 4));
        assertThat(events.result(operation)).isCompletedWithValue(5);
    }

    @Test
    void aJoinIsRefusedByAnotherOwnership() {
        Operation operation = events.operate(Verb.JOIN, 0);
        Operation next = events.local.look();
        events.tells();
        events.answer(Reply.disagreed());
        assertFails(
                events.result(operation),
                IllegalArgumentException.class,
                "whose permits belong to sessions, but it isn't");
        assertThat(events.tells().operation()).isSameAs(next);
        SemaphoreEvents unowned = SemaphoreEvents.unowned();
        Operation other = unowned.operate(Verb.JOIN, 0);
        unowned.tells();
        unowned.answer(Reply.disagreed());
        assertThat(unowned.isTold()).isFalse();
        assertFails(
                unowned.result(other), IllegalArgumentException.class, "whose permits belong to nobody, but it isn't");
    }

    @Test
    void aSemaphoreThatWasMadeAnewAndDiffersIsRefused() {
        Operation operation = events.local.look();
        Waiter waiter = events.waits(1);
        events.tells();
        events.answer(Reply.disagreed());
        assertFails(events.result(operation), IllegalStateException.class, "but it isn't");
        assertThatThrownBy(() -> events.comesOut(waiter))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Redis refuses semaphore 'semaphore'");
        events.answer(Reply.disagreed());
    }

    @Test
    void whatAClosedAccountHasTakenIsLostAndTakenAgain() {
        Operation operation = tries(2);
        Statement said = events.tells();
        events.answer(Reply.closed(said).done(said, 2));
        assertThat(events.result(operation)).isNotDone();
        Statement again = events.tells();
        assertThat(again.operation()).isSameAs(operation);
        assertThat(again.epoch()).isGreaterThan(said.epoch());
        events.answer(Reply.open(0).done(again, 2));
        assertThat(ends(operation)).isTrue();
        assertThat(events.local.holdings.valid()).isEqualTo(2);
    }

    @Test
    void whatAForgottenAccountHasNotDoneIsSentAgainUnlessItIsCancelled() {
        Operation cancelled = tries(1);
        Operation operation = tries(1);
        events.tells();
        ends(cancelled);
        events.answer(Reply.unknown());
        Statement again = events.tells();
        assertThat(again.operation()).isSameAs(operation);
        assertThat(again.fresh()).isTrue();
    }

    @Test
    void permitsThatArriveAndAreLostBelongToNobody() {
        Operation operation = tries(2);
        events.answer(Reply.open(0).done(events.tells(), 2));
        Statement said = events.say();
        events.answer(Reply.closed(said));
        assertThat(operation.stray).isTrue();
        assertThat(ends(operation)).isTrue();
        assertThat(events.local.holdings.isEmpty()).isTrue();
    }
}
