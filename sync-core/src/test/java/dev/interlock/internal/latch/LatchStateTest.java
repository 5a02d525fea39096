package dev.interlock.internal.latch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.interlock.internal.latch.LatchReply.Status;
import dev.interlock.internal.session.EffectsProbe;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.client.RedisException;

/** A latch's state, driven by events alone: no session, no Redis, no threads. */
class LatchStateTest {
    private final Throwable wrongType = new RedisException("WRONGTYPE another type");

    private final LatchState state = new LatchState("name", 3, 3);
    private long nowNanos;

    private List<LatchEffect> answer(Status status, long left, int began, long born) {
        state.answered(new LatchReply(status, left, began, born), nowNanos);
        return effects();
    }

    private List<LatchEffect> told(long ofBorn, boolean early) {
        state.told(ofBorn, early);
        return effects();
    }

    private List<LatchEffect> effects() {
        return EffectsProbe.poll(state.effects);
    }

    private void join() {
        assertThat(answer(Status.COUNTING, 3, 3, 70)).isEmpty();
        assertThat(state.isJoined(3)).isTrue();
    }

    @Test
    void aReplyTellsOfTheCount() {
        assertThat(state.knownCount()).isEqualTo(3);
        assertThat(answer(Status.COUNTING, 2, 3, 70)).isEmpty();
        assertThat(state.knownCount()).isEqualTo(2);
        assertThat(state.born).isEqualTo(70);
        assertThat(state).hasToString("2 of 3");
        assertThat(state.name()).isEqualTo("name");
    }

    @Test
    void aReplyIsReadInTheScriptsOrder() {
        assertThat(LatchReply.of(List.of(4L, 5L, 6L, 7L))).isEqualTo(new LatchReply(Status.OTHER_COUNT, 5, 6, 7));
    }

    /** The sum is what Redis is told, so a lost reply or a doubled one changes nothing. */
    @Test
    void countDownsAddUpUntilTheLatchIsOpen() {
        join();
        assertThat(state.countDown()).isTrue();
        assertThat(state.countDown()).isTrue();
        assertThat(state.total).isEqualTo(2);
        answer(Status.COUNTING, 1, 3, 70);
        answer(Status.COUNTING, 1, 3, 70);
        assertThat(state.total).isEqualTo(2);
        assertThat(answer(Status.OPEN, 0, 3, 70)).containsExactly(LatchEffect.OPEN);
        assertThat(state.countDown()).as("there is nothing to tell").isFalse();
        assertThat(state.total).isEqualTo(2);
        assertThat(state.knownCount()).isZero();
        assertThat(state).hasToString("open");
    }

    @Test
    void onlyTheFirstThreadThatWaitsTells() {
        assertThat(state.isWaiting()).isFalse();
        state.arrive(false);
        assertThat(effects()).containsExactly(LatchEffect.TELL);
        state.arrive(false);
        assertThat(effects()).isEmpty();
        assertThat(state.leave()).isFalse();
        assertThat(state.isWaiting()).isTrue();
        assertThat(state.leave()).isTrue();
        assertThat(state.isWaiting()).isFalse();
    }

    @Test
    void aThreadThatAsksTellsByItself() {
        state.arrive(true);
        assertThat(effects()).isEmpty();
        assertThat(state.isWaiting()).isTrue();
    }

    @Test
    void nobodyWaitsForRedisAtALatchThatIsOpenOrLost() {
        join();
        state.arrive(false);
        answer(Status.OPEN, 0, 3, 70);
        assertThat(state.isWaiting()).isFalse();
        LatchState lost = new LatchState("name", 3, 3);
        lost.arrive(true);
        lost.close();
        assertThat(EffectsProbe.poll(lost.effects)).containsExactly(LatchEffect.OPEN);
        assertThat(lost.isWaiting()).isFalse();
    }

    @Test
    void aMessageOpensTheLatchThatItNames() {
        join();
        assertThat(told(70, false)).containsExactly(LatchEffect.OPEN);
        assertThat(state.isOpen()).isTrue();
        assertThat(told(70, false)).as("a doubled one").isEmpty();
    }

    @Test
    void aMessageOfAnotherLatchOfThatNameIsIgnored() {
        join();
        assertThat(told(69, false)).isEmpty();
        assertThat(told(0, true)).isEmpty();
        assertThat(state.isOpen()).isFalse();
    }

    @Test
    void whereThereAreReplicasAMessageIsAReasonToAsk() {
        join();
        assertThat(told(70, true)).containsExactly(LatchEffect.TELL);
        assertThat(state.isOpen()).isFalse();
    }

    @Test
    void aLateReplyDoesNotCloseAnOpenLatch() {
        join();
        assertThat(told(70, false)).containsExactly(LatchEffect.OPEN);
        assertThat(answer(Status.COUNTING, 1, 3, 70)).isEmpty();
        assertThat(state.isOpen()).isTrue();
        assertThat(state.knownCount()).isZero();
        assertThat(answer(Status.GONE, 0, 0, 70)).isEmpty();
        state.ensureUsable(true);
    }

    /** Redis has gone back to an older copy of its data. Others may say again how often they have counted down. */
    @Test
    void aCountThatHasGrownMayNotStayLikeThat() {
        join();
        answer(Status.COUNTING, 1, 3, 70);
        assertThat(state.most(nowNanos)).isEqualTo(3);
        answer(Status.COUNTING, 2, 3, 70);
        nowNanos += TimeUnit.SECONDS.toNanos(3) - 1;
        answer(Status.COUNTING, 3, 3, 70);
        assertThat(state.most(nowNanos)).isEqualTo(3);
        nowNanos++;
        assertThat(state.most(nowNanos)).isEqualTo(1);
        answer(Status.COUNTING, 1, 3, 70);
        assertThat(state.most(nowNanos)).isEqualTo(3);
        answer(Status.COUNTING, 2, 3, 70);
        assertThat(state.most(nowNanos)).as("once more").isEqualTo(3);
    }

    /** Anybody may write messages. */
    @Test
    void onlyAReplySaysForOthersThatTheLatchIsOpen() {
        join();
        state.told(70, false);
        assertThat(state.most(nowNanos)).isEqualTo(3);
        answer(Status.OPEN, 0, 3, 70);
        assertThat(state.most(nowNanos)).isZero();
    }

    @Test
    void aLatchThatRedisForgetsIsLost() {
        join();
        state.arrive(true);
        assertThat(answer(Status.GONE, 0, 0, 70)).containsExactly(LatchEffect.OPEN);
        assertThat(state.isLost()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> state.ensureAlive(false))
                .withMessageContaining("latch 'name' is lost");
        assertThat(state.isJoined(3)).as("another object takes its place").isFalse();
        assertThat(state.isJoined(4)).as("whatever that begins with").isFalse();
        assertThat(answer(Status.GONE, 0, 0, 70)).as("it is lost once").isEmpty();
        assertThat(state).hasToString("lost");
    }

    @Test
    void aLatchThatWasGoneBeforeItWasJoinedIsAnError() {
        answer(Status.GONE, 0, 0, 0);
        assertThatIllegalStateException().isThrownBy(() -> state.isJoined(3)).withMessageContaining("is lost");
    }

    @Test
    void aLatchThatWasOpenedLongAgoStaysOpenAndLetsGoOfItsName() {
        join();
        assertThat(answer(Status.PAST, 0, 0, 70)).containsExactly(LatchEffect.OPEN);
        assertThat(state.isOpen()).isTrue();
        assertThat(state.isJoined(3)).isFalse();
        assertThat(state.isJoined(4)).isFalse();
    }

    @Test
    void aLatchThatBeganWithAnotherCountCanNotBeJoined() {
        answer(Status.OTHER_COUNT, 2, 5, 70);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> state.isJoined(3))
                .withMessage("latch 'name' began with a count of 5; it can't be joined with a count of 3."
                        + " A new latch needs a new name");
        assertThat(state.isJoined(5)).as("but by an object of that count").isFalse();
    }

    @Test
    void anotherCountThanThatOfTheObjectIsAnError() {
        join();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> state.isJoined(4))
                .withMessageContaining("began with a count of 3");
    }

    @Test
    void aRefusalIsForThoseThatWait() {
        join();
        state.refused(wrongType);
        state.ensureUsable(false);
        state.arrive(false);
        state.refused(wrongType);
        state.ensureAlive(false);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> state.ensureUsable(false))
                .withMessageContaining("Redis refuses latch 'name'");
        state.leave();
        state.ensureUsable(false);
    }

    @Test
    void anAnswerEndsARefusal() {
        state.arrive(false);
        state.refused(wrongType);
        answer(Status.COUNTING, 3, 3, 70);
        state.ensureUsable(false);
    }

    @Test
    void aRefusalDoesNotConcernAnOpenLatch() {
        join();
        state.arrive(false);
        state.told(70, false);
        state.refused(wrongType);
        state.ensureUsable(true);
    }

    @Test
    void aClosedSessionEndsALatchThatIsNotOpen() {
        state.ensureAlive(false);
        assertThatIllegalStateException()
                .isThrownBy(() -> state.ensureAlive(true))
                .withMessage("the Interlock session is closed");
        state.close();
        assertThat(effects()).containsExactly(LatchEffect.OPEN);
        assertThatIllegalStateException()
                .isThrownBy(() -> state.ensureUsable(false))
                .withMessage("the Interlock session is closed");
    }

    @Test
    void aClosedSessionLeavesAnOpenLatchOpen() {
        state.forgotten();
        effects();
        state.close();
        assertThat(effects()).isEmpty();
        state.ensureUsable(true);
    }

    @Test
    void aCountThatIsUnknownIsSaidToBe() {
        LatchState adapted = new LatchState("name", 0, LatchState.UNKNOWN);
        assertThat(adapted.knownCount()).isEqualTo(LatchState.UNKNOWN);
        assertThat(adapted.isJoined(0)).isTrue();
        adapted.counted(2);
        assertThat(EffectsProbe.poll(adapted.effects)).isEmpty();
        assertThat(adapted.knownCount()).isEqualTo(2);
    }
}
