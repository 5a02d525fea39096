package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.busy;
import static dev.interlock.internal.lock.script.LockReplies.granted;
import static dev.interlock.internal.lock.script.LockReplies.over;
import static dev.interlock.internal.lock.script.LockStateRig.step;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.lock.script.LockState.Advance;
import dev.interlock.internal.redis.Mail;
import org.junit.jupiter.api.Test;

/** What becomes of an untimed {@code tryLock()} of a name that a session owns. */
class IdleQuestionStateTest {
    private final LockStateRig rig = new LockStateRig(false);
    private final Thread a = thread("a");
    private final Thread b = thread("b");

    private void idleAnswered(long request, boolean isInside) {
        rig.event(() -> rig.state.answered(new Mail.IdleAnswer("name", step(request), isInside)));
    }

    @Test
    void isRefusedByAnOwnerThatIsInside() {
        rig.tryOnce(a, true);
        rig.answer(busy(true));
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.WAITING);
        idleAnswered(1, true);
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.REFUSED);
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "changed", "unpin");
    }

    /** Else its answer would find nobody who is interested in the name. */
    @Test
    void staysPinnedUntilItIsAnsweredOrItsThreadHasLeft() {
        rig.tryOnce(a, true);
        rig.answer(busy(true));
        assertThat(rig.effects()).containsExactly("pin", "ask 1");
        rig.event(() -> rig.state.endOnce(rig.now()));
        assertThat(rig.effects()).containsExactly("unpin");
    }

    /** The answer of an owner may overtake the reply of Redis. */
    @Test
    void answerMayComeBeforeTheReply() {
        rig.tryOnce(a, true);
        idleAnswered(1, false);
        rig.answer(busy(true));
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.WAITING);
        assertThat(rig.effects()).containsExactly("pin", "ask 1", "changed", "ask 2");
        idleAnswered(2, true);
        rig.answer(busy(true));
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.REFUSED);
    }

    @Test
    void answerToAnEarlierRequestCountsForNothing() {
        rig.tryOnce(a, true);
        rig.answer(busy(true));
        idleAnswered(1, true);
        rig.tryOnce(a, false);
        rig.tryOnce(a, true);
        rig.answer(busy(true));
        idleAnswered(1, true);
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.WAITING);
    }

    /** Its answer may be lost, or the question. */
    @Test
    void asksASilentOwnerAgainAndIsRefusedInTheEnd() {
        rig.tryOnce(a, true);
        long sent = 1;
        for (int passed = 0; passed < 250; passed += 50) {
            rig.answer(busy(true));
            rig.effects();
            rig.pass(49);
            assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.WAITING);
            assertThat(rig.effects()).isEmpty();
            rig.pass(1);
            if (passed < 200) {
                assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.WAITING);
                assertThat(rig.effects()).containsExactly("ask " + ++sent);
            }
        }
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.REFUSED);
        assertThat(rig.effects()).containsExactly("unanswered after 250", "unpin");
    }

    /** Then nobody knows whether the name was free. */
    @Test
    void asksAgainIfTheReplyGotLost() {
        rig.tryOnce(a, true);
        rig.answer(over(step(1)));
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.WAITING);
        rig.answer(granted(step(2), 100));
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.ENTERED);
    }

    /** A grant of another ticket, such as that of a waiter, lets the thread in while it waits for an answer. */
    @Test
    void isOverWhenItsThreadHasEnteredInAnotherWay() {
        rig.tryOnce(a, true);
        rig.answer(busy(true));
        rig.advance(b);
        rig.answer(granted(step(2), 100));
        assertThat(rig.tryOnce(a, false)).isEqualTo(Advance.ENTERED);
        rig.giveUp();
        assertThat(rig.effects()).endsWith("unpin");
    }
}
