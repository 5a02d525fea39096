package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.done;
import static dev.interlock.internal.lock.script.LockReplies.granted;
import static dev.interlock.internal.lock.script.LockReplies.mail;
import static dev.interlock.internal.lock.script.LockReplies.queued;
import static dev.interlock.internal.lock.script.LockReplies.reply;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterReply;
import dev.interlock.internal.lock.script.LockScripts.WaiterState;
import dev.interlock.internal.lock.script.LockState.Advance;
import dev.interlock.internal.lock.script.Waiter.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a session knows of the waiters of a lock's conditions, by its events alone. */
class ConditionStateTest {
    private final Thread a = thread("a");
    private final Thread b = thread("b");
    private LockStateRig rig = new LockStateRig(false);

    // ---- within a tenure

    @Test
    void signalsOfATenureStayInTheSession() {
        rig.own(a);
        Waiter first = rig.enlist(a, "c");
        Waiter second = rig.enlist(b, "c");
        Waiter other = rig.enlist(b, "d");
        rig.signal("c", false);
        assertThat(first.outcome).isEqualTo(Outcome.SIGNALLED);
        assertThat(second.outcome).isNull();
        rig.signal("c", true);
        rig.signal("c", true);
        assertThat(second.outcome).isEqualTo(Outcome.SIGNALLED);
        assertThat(other.outcome).isNull();
        assertThat(rig.effects()).isEmpty();
        assertThat(rig.view.isAnyArriving()).isTrue();
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1 w" + other.text);
    }

    @Test
    void countsItsOwnWaitersUntilRedisKnowsOthers() {
        rig.own(a);
        Waiter first = rig.enlist(a, "c");
        rig.enlist(b, "d");
        SignalReply counted = rig.count("c");
        assertThat(counted.count()).isEqualTo(1);
        assertThat(rig.state.conditions().threads(counted.own())).containsExactly(a);
        assertThat(rig.state.conditions().threads(Set.of(first.sequence + 1))).isEmpty();
        rig.tenure().awaited = true;
        assertThat(rig.state.conditions().count(rig.tenure(), "c"))
                .as("Redis is to be asked")
                .isNull();
        assertThat(rig.state
                        .conditions()
                        .signals(rig.tenure(), "c", true, rig.now())
                        .operations()
                        .text())
                .startsWith("wc:");
    }

    @Test
    void waiterThatLeavesBeforeTheReleaseIsNotRegistered() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        rig.leave(waiter);
        assertThat(waiter.outcome).isEqualTo(Outcome.LEFT);
        rig.leave(waiter);
        Waiter abandoned = rig.enlist(b, "c");
        assertThat(rig.abandon(abandoned)).isTrue();
        assertThat(rig.abandon(waiter)).isFalse();
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1");
        rig.arrive(waiter, false);
        assertThat(rig.effects()).containsExactly("unpin");
    }

    @Test
    void signalsToOthersAreSentAheadIfTheTenureGoesOn() {
        rig.own(a);
        rig.tenure().awaited = true;
        rig.signal("c", false);
        assertThat(rig.view.isAnySignalDue).isTrue();
        rig.pulse();
        assertThat(rig.effects()).containsExactly("signal sc");
        assertThat(rig.view.isAnySignalDue).isFalse();
        rig.pulse();
        assertThat(rig.effects()).isEmpty();
        // Without an answer they are due again; meanwhile another one is.
        assertThat(rig.answerSignals(null)).isTrue();
        assertThat(rig.view.isAnySignalDue).isTrue();
        rig.pulse();
        rig.signal("c", true);
        assertThat(rig.answerSignals(done(true))).isTrue();
        assertThat(rig.effects()).containsExactly("signal sc", "signal ac");
        assertThat(rig.tenure().awaited).isTrue();
        assertThat(rig.answerSignals(done(false))).isTrue();
        assertThat(rig.tenure().awaited).isFalse();
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1", "unpin");
    }

    @Test
    void signalsOfALostTenureTellSo() {
        rig.own(a);
        rig.tenure().awaited = true;
        rig.signal("c", false);
        rig.pulse();
        rig.tenure().shared = true;
        SignalReply lost = new SignalReply(false, true, false, 0, Set.of());
        assertThat(rig.answerSignals(lost)).isTrue();
        assertThat(rig.tenure().demand).isTrue();
        rig.tenure().shared = false;
        rig.pulse();
        assertThat(rig.answerSignals(lost)).isFalse();
    }

    // ---- in Redis

    @Test
    void releaseRegistersAndTheMessageSignals() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 1 w" + waiter.text);
        rig.confirm(Released.TENURE);
        assertThat(rig.effects()).isEmpty();
        rig.pass(500);
        assertThat(rig.grant(mail(waiter.sequence + 1, 20, 9, 0, waiter.sequence)))
                .isTrue();
        assertThat(waiter.outcome).isEqualTo(Outcome.SIGNALLED);
        assertThat(rig.effects()).containsExactly("begin 2+1");
        assertThat(rig.advance(a)).isEqualTo(Advance.ENTERED);
        rig.arrive(waiter, false);
        rig.giveUp();
        assertThat(rig.effects()).containsExactly("release 2+1", "unpin");
    }

    @Test
    void admittedWaiterHasATicketThatIsGrantedLater() {
        Waiter waiter = rig.waiting(a, "c");
        rig.admit(waiter.sequence, waiter.sequence + 1);
        assertThat(waiter.outcome).isEqualTo(Outcome.SIGNALLED);
        Ticket ticket = Objects.requireNonNull(rig.view.ticket);
        assertThat(ticket.text()).isEqualTo(waiter.sequence + 1 + ":3000:" + waiter.sequence);
        // Once more, by another message.
        rig.admit(waiter.sequence, waiter.sequence + 1);
        assertThat(rig.effects()).isEmpty();
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask 2+1");
    }

    /** Redis doesn't know yet that a session which waits for many names is going to ask less often. */
    @Test
    void admittedWaiterOfASessionWithManyNamesIsAskedForEachSecond() {
        for (int i = 0; i < 100; i++) {
            rig.pace.beat(10);
        }
        Waiter waiter = rig.waiting(a, "c");
        rig.admit(waiter.sequence, waiter.sequence + 1);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask 2+1");
        rig.answer(queued(7));
        rig.pass(1_000);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask 2+1");
    }

    @Test
    void admittedWaiterTakesNoSecondPlaceInAPlainLock() {
        Waiter waiter = rig.waiting(a, "c");
        rig.advance(b);
        rig.effects();
        rig.admit(waiter.sequence, waiter.sequence + 1);
        assertThat(rig.effects()).containsExactly("release 2+1");
        Waiter granted = nextWaiting();
        rig.advance(b);
        rig.answer(queued(7));
        rig.effects();
        rig.grant(mail(granted.sequence + 1, 90, 9, 0, granted.sequence));
        assertThat(rig.effects()).anyMatch(effect -> effect.startsWith("release"));
        assertThat(rig.tenure().sequence).isEqualTo(granted.sequence + 1);
    }

    private Waiter nextWaiting() {
        rig.withdraw();
        rig.forget();
        return rig.waiting(a, "c");
    }

    @Test
    void waiterThatLeavesIsDecidedByRedis() {
        Waiter waiter = rig.waiting(a, "c");
        rig.leave(waiter);
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 1 leave, 0 gone");
        assertThat(rig.view.isAnyArriving()).isTrue();
        rig.answerWaiters(reply(waiter, WaiterState.LEFT, waiter.sequence + 1));
        assertThat(waiter.outcome).isEqualTo(Outcome.LEFT);
        assertThat(Objects.requireNonNull(rig.view.ticket).waiter).isEqualTo(-waiter.sequence);
    }

    @Test
    void waiterThatLeavesWaitsForSignalsBeforeIt() {
        Waiter waiter = rig.waiting(a, "c");
        rig.own(a);
        rig.tenure().awaited = true;
        rig.signal("c", false);
        rig.leave(waiter);
        assertThat(rig.effects()).containsExactly("signal sc");
        rig.answerSignals(done(true));
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 1 leave, 0 gone");
        // It is asked for again if the answer doesn't speak of it.
        rig.answerWaiters();
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 1 leave, 0 gone");
        rig.answerWaiters(reply(waiter, WaiterState.SIGNALLED, 0));
        assertThat(waiter.outcome).isEqualTo(Outcome.SIGNALLED);
    }

    /** The clock may be negative. */
    @Test
    void theFirstBeatAsksWhateverTheClockShows() {
        rig = new LockStateRig(false, -1_000_000_000);
        rig.waiting(a, "c");
        rig.event(() -> rig.state.conditions().beat(rig.now()));
        assertThat(rig.effects()).containsExactly("ask for 1 waiters, 0 leave, 0 gone");
    }

    @Test
    void oldestOfEachConditionIsAskedFor() {
        Waiter first = rig.waiting(a, "c");
        Waiter second = rig.waiting(a, "c");
        Waiter other = rig.waiting(a, "d");
        rig.pass(1_500);
        rig.event(() -> rig.state.conditions().beat(rig.now()));
        assertThat(rig.effects()).containsExactly("ask for 2 waiters, 0 leave, 0 gone");
        rig.event(() -> rig.state.conditions().beat(rig.now()));
        rig.answerWaiters(reply(first, WaiterState.SIGNALLED, 0), reply(other, WaiterState.WAITING, 0));
        assertThat(second.waitingNanos()).isLessThan(rig.now());
        assertThat(other.waitingNanos()).isEqualTo(rig.now());
        // More than the oldest are asked for, since that was over.
        assertThat(rig.effects()).containsExactly("ask for 2 waiters, 0 leave, 0 gone");
        rig.answerWaiters(reply(second, WaiterState.WAITING, 0), reply(other, WaiterState.WAITING, 0));
        assertThat(rig.effects()).isEmpty();
        assertThat(second.outcome).isNull();
    }

    /** A command's time doesn't grow with the number of threads that leave. */
    @Test
    void commandNamesAHundredWaitersAtMost() {
        List<Waiter> waiters = waitTogether(250);
        waiters.subList(0, 120).forEach(rig::leave);
        waiters.subList(120, 250).forEach(rig::abandon);
        assertThat(rig.effects()).containsExactly("ask for 1 waiters, 1 leave, 0 gone");
        rig.answerWaiters(replies(waiters.subList(0, 1), WaiterState.LEFT));
        assertThat(rig.effects()).contains("ask for 0 waiters, 100 leave, 100 gone");
        rig.answerWaiters(replies(waiters.subList(1, 101), WaiterState.LEFT));
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 19 leave, 30 gone");
        rig.answerWaiters(replies(waiters.subList(101, 120), WaiterState.LEFT));
        assertThat(rig.effects()).isEmpty();
        assertThat(rig.state.conditions().isEmpty()).isTrue();
    }

    private List<Waiter> waitTogether(int count) {
        rig.own(a);
        List<Waiter> waiters =
                Stream.generate(() -> rig.enlist(b, "c")).limit(count).toList();
        rig.giveUp();
        rig.confirm(Released.TENURE);
        rig.effects();
        return waiters;
    }

    private static WaiterReply[] replies(List<Waiter> waiters, WaiterState state) {
        return waiters.stream().map(one -> reply(one, state, 0)).toArray(WaiterReply[]::new);
    }

    /** After many have been signalled unheard, all of them are found, some at a time. */
    @Test
    void moreAreAskedForAsLongAsTheOldestAreOver() {
        List<Waiter> waiters = waitTogether(250);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask for 1 waiters, 0 leave, 0 gone");
        rig.answerWaiters(reply(waiters.get(0), WaiterState.SIGNALLED, 0));
        assertThat(rig.effects()).contains("ask for 100 waiters, 0 leave, 0 gone");
        rig.answerWaiters(replies(waiters.subList(1, 101), WaiterState.SIGNALLED));
        assertThat(rig.effects()).contains("ask for 100 waiters, 0 leave, 0 gone");
        rig.answerWaiters(reply(waiters.get(101), WaiterState.WAITING, 0));
        assertThat(rig.effects()).isEmpty();
    }

    @Test
    void waiterWhoseTenureWasLostIsTold() {
        rig.own(a);
        Waiter first = rig.enlist(b, "c");
        Waiter releases = rig.enlist(a, "c");
        releases.released = rig.tenure();
        rig.giveUp();
        rig.confirm(Released.NOTHING);
        assertThat(first.outcome).isEqualTo(Outcome.SIGNALLED);
        assertThat(releases.outcome).isEqualTo(Outcome.LOST);
    }

    /** The release was too late for its lease, which says nothing of the time before. */
    @Test
    void waiterWhoseReleaseCameLateReturnsSpuriously() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        waiter.released = rig.tenure();
        rig.giveUp();
        rig.pass(LockStateRig.LEASE_MILLIS);
        rig.confirm(Released.NOTHING);
        assertThat(waiter.outcome).isEqualTo(Outcome.SIGNALLED);
    }

    @Test
    void waiterWhoseLeaseWasOverBeforeIsTold() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        waiter.released = rig.tenure();
        waiter.isLost = true;
        rig.giveUp();
        rig.pass(LockStateRig.LEASE_MILLIS);
        rig.confirm(Released.NOTHING);
        assertThat(waiter.outcome).isEqualTo(Outcome.LOST);
    }

    @Test
    void unconfirmedReleaseLeavesItsWaitersWaiting() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        rig.giveUp();
        rig.leave(waiter);
        rig.event(() -> rig.state.conditions().released(List.of(waiter), null, rig.now()));
        assertThat(waiter.outcome).isNull();
        assertThat(waiter.isConfirmed).isFalse();
        rig.pass(LockStateRig.SILENCE_MILLIS);
        rig.effects();
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 1 leave, 0 gone");
    }

    @Test
    void operationsOfATicketThatIsWithdrawnAreAbandoned() {
        rig.own(a);
        rig.tenure().awaited = true;
        Waiter waiter = rig.enlist(a, "c");
        rig.signal("d", false);
        rig.advance(b, LockStateRig.FIXED_MILLIS, false, false);
        rig.effects();
        rig.withdraw();
        assertThat(waiter.outcome).isEqualTo(Outcome.SIGNALLED);
        assertThat(rig.effects())
                .containsExactly("release 3", "release 1", "ask for 0 waiters, 0 leave, 0 gone, signal lost");
        rig.answerWaiters();
        rig.arrive(waiter, false);
        assertThat(rig.effects()).containsExactly("unpin");
    }

    // ---- coming back

    @Test
    void waitersComeBackInTheOrderInWhichTheyWereDone() {
        rig.own(a);
        Waiter first = rig.enlist(a, "c");
        Waiter second = rig.enlist(b, "c");
        List<String> woken = new ArrayList<>();
        first.wakeUp = () -> woken.add("first");
        second.wakeUp = () -> woken.add("second");
        rig.signal("c", true);
        assertThat(woken).containsExactly("first");
        assertThat(rig.lineUp(first)).isEmpty();
        assertThat(woken).containsExactly("first", "second");
        assertThat(rig.lineUp(second)).contains(first);
        rig.arrive(first, false);
        rig.arrive(second, false);
        assertThat(rig.view.isAnyArriving()).isFalse();
        Waiter third = rig.enlist(a, "c");
        third.wakeUp = () -> woken.add("third");
        rig.signal("c", false);
        assertThat(woken).containsExactly("first", "second", "third");
    }

    @Test
    void successorOfOneThatHasLinedUpIsWokenAtOnce() {
        rig.own(a);
        Waiter first = rig.enlist(a, "c");
        Waiter second = rig.enlist(b, "c");
        List<String> woken = new ArrayList<>();
        second.wakeUp = () -> woken.add("second");
        rig.signal("c", false);
        rig.lineUp(first);
        rig.signal("c", false);
        assertThat(woken).containsExactly("second");
    }

    @Test
    void signalOfAWaiterThatCantComeBackGoesToOthers() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        rig.signal("c", false);
        rig.arrive(waiter, true);
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 0 gone, signal lost");
        rig.answerWaiters();
        Waiter left = rig.enlist(a, "c");
        rig.leave(left);
        rig.arrive(left, true);
        assertThat(rig.effects()).isEmpty();
    }

    @Test
    void waiterOfAFairLockQueuesByItself() {
        rig = new LockStateRig(true);
        rig.own(a);
        Waiter waiter = rig.enlist(b, "c");
        rig.signal("c", false);
        assertThat(rig.effects()).containsExactly("ask 3");
        assertThat(Objects.requireNonNull(rig.view.ticket).thread).isSameAs(b);
        Waiter admitted = rig.enlist(a, "c");
        rig.giveUp();
        rig.confirm(Released.TENURE);
        assertThat(rig.effects()).containsExactly("release 1 f" + admitted.text);
        rig.admit(admitted.sequence, admitted.sequence - 1);
        assertThat(Objects.requireNonNull(rig.view.ticket).thread).isSameAs(b);
        assertThat(rig.state.enterAtOnce(rig.view.tenure, a, rig.now())).isFalse();
        assertThat(waiter.outcome).isEqualTo(Outcome.SIGNALLED);
    }

    // ---- refusals

    @Test
    void refusalEndsWaitsOfWhichRedisMayKnow() {
        Waiter known = rig.waiting(a, "c");
        rig.own(a);
        Waiter unsent = rig.enlist(b, "c");
        rig.pulse();
        rig.refuseWaiters();
        assertThat(known.outcome).isEqualTo(Outcome.REFUSED);
        assertThat(known.refusal).hasMessage("WRONGTYPE");
        assertThat(unsent.outcome).isNull();
        // It may be signalled all the same, before Redis hears that it is gone.
        rig.effects();
        rig.admit(known.sequence, 0);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 1 gone, signal lost");
    }

    /** In the place that it has in the queue of a fair lock, it gets the lock. */
    @Test
    void refusedWaiterOfAFairLockIsAnnounced() {
        rig = new LockStateRig(true);
        Waiter waiter = rig.waiting(a, "c");
        rig.pulse();
        rig.effects();
        rig.refuseWaiters();
        assertThat(waiter.outcome).isEqualTo(Outcome.REFUSED);
        assertThat(Objects.requireNonNull(rig.view.ticket).thread).isSameAs(a);
        assertThat(rig.effects()).containsExactly("ask 3");
    }

    @Test
    void whatIsRefusedIsSaidUntilTheLeaseIsOver() {
        Waiter waiter = rig.waiting(a, "c");
        rig.pulse();
        rig.refuseWaiters();
        rig.arrive(waiter, true);
        rig.pass(LockStateRig.LEASE_MILLIS - 1);
        rig.pulse();
        rig.refuseWaiters();
        rig.effects();
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 1 gone");
        rig.pass(1);
        rig.refuseWaiters();
        rig.pulse();
        assertThat(rig.effects()).containsExactly("unpin");
    }

    @Test
    void anAnswerBeginsThatTimeAnew() {
        Waiter waiter = rig.waiting(a, "c");
        rig.pulse();
        rig.refuseWaiters();
        rig.arrive(waiter, true);
        rig.pulse();
        rig.pass(LockStateRig.LEASE_MILLIS);
        rig.answerWaiters();
        Waiter next = rig.waiting(a, "c");
        rig.pulse();
        rig.refuseWaiters();
        rig.arrive(next, true);
        rig.effects();
        rig.pulse();
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 1 gone");
    }

    // ---- the end

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingEndsAllWaits(boolean fair) {
        rig = new LockStateRig(fair);
        Waiter registered = rig.waiting(a, "c");
        rig.own(a);
        Waiter unsent = rig.enlist(b, "c");
        rig.close();
        assertThat(registered.outcome).isEqualTo(Outcome.CLOSED);
        assertThat(unsent.outcome).isEqualTo(Outcome.CLOSED);
        assertThat(rig.effects()).containsExactly("tell 1 gone", "release 3");
    }

    @Test
    void closingPassesOnTheSignalsOfThoseThatComeBack() {
        rig.own(a);
        rig.enlist(a, "c");
        rig.signal("c", false);
        rig.close();
        assertThat(rig.effects()).containsExactly("tell 0 gone, signal lost", "release 1");
    }

    @Test
    void closingSignalsForATicketThatAWaiterHasGot() {
        Waiter waiter = rig.waiting(a, "c");
        rig.admit(waiter.sequence, waiter.sequence + 1);
        rig.arrive(waiter, false);
        rig.effects();
        rig.close();
        assertThat(rig.effects()).containsExactly("release 2+1 *", "unpin");
    }
}
