package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.reply;
import static dev.interlock.internal.lock.script.LockStateRig.step;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.LockScripts.Released;
import dev.interlock.internal.lock.script.LockScripts.WaiterState;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** News of the waiters of a lock's conditions that come twice, late or not at all, by events alone. */
class ConditionNewsStateTest {
    private final Thread a = thread("a");
    private final Thread b = thread("b");
    private final LockStateRig rig = new LockStateRig(false);

    @Test
    void sessionIsInterestedUntilWhatItRemembersIsOld() {
        Waiter waiter = rig.waiting(a, "c");
        rig.pulse();
        rig.answerWaiters(reply(waiter, WaiterState.SIGNALLED, 0));
        rig.arrive(waiter, false);
        rig.effects();
        rig.pass(LockStateRig.SILENCE_MILLIS - 1);
        rig.pulse();
        assertThat(rig.effects()).isEmpty();
        rig.pass(1);
        rig.pulse();
        assertThat(rig.effects()).containsExactly("unpin");
    }

    /** One that had left was told no signal. */
    @Test
    void newsOfAnUnknownWaiterThatHasLeftMeanNothing() {
        rig.admit(-step(7), 0);
        assertThat(rig.effects()).isEmpty();
        rig.admit(-step(7), step(7) + 1);
        assertThat(rig.effects()).containsExactly("give back 7+1");
    }

    /**
     * Redis has gone back to an older copy of its data, in which a thread waits that is done: others get its signal.
     */
    @Test
    void signalOfAnUnknownWaiterIsPassedOn() {
        rig.admit(step(7), 0);
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 0 gone, signal lost");
        rig.answerWaiters();
        rig.admit(step(7), step(7) + 1);
        assertThat(rig.effects()).contains("give back 7+1, signal lost");
    }

    /** It may come when the waiter's ticket is over, too: then all others would be woken for nothing. */
    @Test
    void messageAboutASignalThatAnAnswerHasToldIsNoNews() {
        Waiter waiter = rig.waiting(a, "c");
        rig.own(b);
        rig.pulse();
        rig.answerWaiters(reply(waiter, WaiterState.SIGNALLED, waiter.sequence + 1));
        assertThat(rig.effects()).anyMatch(effect -> effect.startsWith("release"));
        rig.admit(waiter.sequence, waiter.sequence + 1);
        assertThat(rig.effects()).noneMatch(effect -> effect.contains("signal lost"));
    }

    /** The answer came before the registration, so it says nothing of a signal that follows. */
    @Test
    void signalOfAWaiterThatRedisDidNotKnowYetIsPassedOn() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        rig.giveUp();
        rig.pass(LockStateRig.SILENCE_MILLIS);
        rig.pulse();
        rig.answerWaiters(reply(waiter, WaiterState.SIGNALLED, 0));
        rig.confirm(Released.TENURE);
        rig.effects();
        rig.admit(waiter.sequence, waiter.sequence + 1);
        assertThat(rig.effects()).anyMatch(effect -> effect.endsWith(", signal lost"));
    }

    @Test
    void abandonedWaiterIsToldToBeGoneAndMayComeBack() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        rig.giveUp();
        rig.effects();
        assertThat(rig.abandon(waiter)).isTrue();
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 1 gone");
        rig.answerWaiters();
        // What was said of it may have come before its registration.
        rig.confirm(Released.TENURE);
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 1 gone");
        rig.answerWaiters();
        assertThat(rig.effects()).containsExactly("unpin");
    }

    /** All of this is answered before the release is carried out. */
    @Test
    void waiterThatRedisDoesntKnowYetIsToldToBeGoneOnceItDoes() {
        rig.own(a);
        Waiter waiter = rig.enlist(a, "c");
        rig.giveUp();
        rig.pass(LockStateRig.SILENCE_MILLIS);
        rig.pulse();
        rig.abandon(waiter);
        rig.answerWaiters(reply(waiter, WaiterState.SIGNALLED, 0));
        rig.answerWaiters();
        rig.effects();
        rig.confirm(Released.TENURE);
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 1 gone");
    }

    /** Redis has signalled all others before that one was lost. */
    @Test
    void signalLostAfterAQuestionIsNotCoveredByItsAnswer() {
        rig.own(a);
        Waiter first = rig.enlist(a, "c");
        Waiter second = rig.enlist(b, "c");
        rig.signal("c", true);
        rig.arrive(first, true);
        rig.arrive(second, true);
        rig.effects();
        rig.answerWaiters();
        assertThat(rig.effects()).containsExactly("ask for 0 waiters, 0 leave, 0 gone, signal lost");
        rig.answerWaiters();
        assertThat(rig.effects()).isEmpty();
    }

    @Test
    void sequenceOfAWaiterIsGivenBackWhenItsMessageDoesntCome() {
        Waiter waiter = rig.waiting(a, "c");
        rig.advance(b);
        rig.answer(LockReplies.owned(LockScripts.Status.QUEUED, waiter.sequence + 1, 0));
        rig.effects();
        rig.pass(LockStateRig.SILENCE_MILLIS - 1);
        rig.ask();
        rig.answer(LockReplies.owned(LockScripts.Status.QUEUED, waiter.sequence + 1, 0));
        assertThat(rig.effects()).noneMatch(effect -> effect.startsWith("give back"));
        rig.pass(1);
        rig.ask();
        rig.answer(LockReplies.owned(LockScripts.Status.QUEUED, waiter.sequence + 1, 0));
        assertThat(rig.effects()).contains("give back 2+1, signal lost");
    }

    @Test
    void requestsLeaveAloneWhatWaitersMayHaveGot() {
        rig.waiting(a, "c");
        rig.advance(b);
        assertThat(Objects.requireNonNull(rig.inFlight).earlier()).isEqualTo(LockScripts.LEFT_ALONE);
    }
}
