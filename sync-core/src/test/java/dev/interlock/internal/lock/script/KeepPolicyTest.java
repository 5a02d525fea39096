package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.granted;
import static dev.interlock.internal.lock.script.LockStateRig.step;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** For how long a session keeps a name, by its events alone. */
class KeepPolicyTest {
    private static final long MICRO = TimeUnit.MICROSECONDS.toNanos(1);
    private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long SLICE = 10 * MILLI;
    private static final long FIXED_MILLIS = 500;

    /** Gaps enough for the average to come near to them. */
    private static final int MANY = 40;

    private final LockStateRig rig = new LockStateRig(false);
    private final KeepPolicy adaptive = new KeepPolicy(SLICE, false, 0, true);
    private final KeepPolicy fixed = new KeepPolicy(SLICE, false, FIXED_MILLIS, false);
    private LockTenure current;
    private long now;

    @BeforeEach
    void begin() {
        rig.advance(thread("a"));
        rig.answer(granted(step(1), 10));
        current = rig.tenure();
        now = current.turnNanos;
    }

    /** A thread leaves. */
    private boolean leave(KeepPolicy policy) {
        return policy.keeps(current, true, now);
    }

    /** Threads leave, and the next one comes that much later. */
    private void use(KeepPolicy policy, long gapNanos, int times) {
        for (int i = 0; i < times; i++) {
            leave(policy);
            now += gapNanos;
            policy.entered(now);
        }
    }

    private long keptFor(KeepPolicy policy) {
        return policy.keptUntilNanos(current) - now;
    }

    /** Another session waits for a turn that begins now. */
    private void wantedInATurn() {
        current.turnNanos = now;
        current.demand = true;
    }

    // ---- turns

    @Test
    void aTurnEndsASliceAfterItsStart() {
        current.demand = true;
        assertThat(adaptive.isTurnOver(current, now + SLICE - 1)).isFalse();
        assertThat(adaptive.turnLeftNanos(current, now + SLICE - 1)).isEqualTo(1);
        assertThat(adaptive.isTurnOver(current, now + SLICE)).isTrue();
    }

    @Test
    void aTurnLastsWhileNobodyElseWaits() {
        assertThat(adaptive.isTurnOver(current, now + 100 * SLICE)).isFalse();
    }

    @Test
    void aTurnOfAFairReadWriteLockEndsAsSoonAsOthersWait() {
        KeepPolicy fair = new KeepPolicy(SLICE, true, 0, false);
        assertThat(fair.isTurnOver(current, now)).isFalse();
        current.demand = true;
        assertThat(fair.isTurnOver(current, now)).isTrue();
    }

    @Test
    void readersJoinAWriterUntilItsTurnEnds() {
        current.demand = true;
        assertThat(adaptive.admits(current, now, now + SLICE - 1)).isTrue();
        assertThat(adaptive.admits(current, now, now + SLICE)).isFalse();
    }

    @Test
    void readersJoinReadersUnlessOthersCameBefore() {
        current.shared = true;
        assertThat(adaptive.admits(current, now + SLICE, now + 2 * SLICE)).isTrue();
        current.demand = true;
        assertThat(adaptive.admits(current, current.startNanos, now + 2 * SLICE))
                .isFalse();
        assertThat(adaptive.admits(current, current.startNanos - 1, now + 2 * SLICE))
                .isTrue();
    }

    // ---- names that nobody else wants

    @Test
    void aFixedRetentionKeepsANameFromTheFirstTimeOn() {
        assertThat(leave(fixed)).isTrue();
        assertThat(keptFor(fixed)).isEqualTo(FIXED_MILLIS * MILLI);
        now += FIXED_MILLIS * MILLI - 1;
        assertThat(fixed.isKept(current, now)).isTrue();
        assertThat(fixed.isKept(current, now + 1)).isFalse();
    }

    @Test
    void aRetentionCountsFromTheLastThreadThatLeft() {
        leave(fixed);
        now += SLICE;
        leave(fixed);
        assertThat(keptFor(fixed)).isEqualTo(FIXED_MILLIS * MILLI);
    }

    @Test
    void aFixedRetentionEndsWhenOthersWait() {
        leave(fixed);
        current.demand = true;
        assertThat(fixed.isKept(current, now)).isFalse();
        assertThat(leave(fixed)).isFalse();
    }

    @Test
    void aNameIsKeptForASliceOnceThreadsHaveComeSoonThreeTimes() {
        use(adaptive, 0, 2);
        assertThat(leave(adaptive)).isFalse();
        adaptive.entered(now);
        assertThat(leave(adaptive)).isTrue();
        assertThat(keptFor(adaptive)).isEqualTo(SLICE);
    }

    @Test
    void aNameIsKeptForTenMillisecondsAtMostHoweverLongASliceIs() {
        KeepPolicy longer = new KeepPolicy(20 * SLICE, false, 0, true);
        use(longer, 0, MANY);
        leave(longer);
        assertThat(keptFor(longer)).isEqualTo(10 * MILLI);
    }

    @Test
    void aNameIsNotKeptWhoseThreadsComeLate() {
        use(adaptive, 6 * MILLI, MANY);
        assertThat(leave(adaptive)).isFalse();
    }

    @Test
    void aLongGapCountsMoreThanAShortOne() {
        use(adaptive, 0, MANY);
        use(adaptive, 10 * MILLI, 1);
        assertThat(leave(adaptive)).isFalse();
        adaptive.entered(now);
        assertThat(leave(adaptive)).as("a pause now and then").isTrue();
    }

    @Test
    void aNameThatOthersWantFirstIsNotKeptTheNextTimes() {
        use(adaptive, 3 * MILLI, MANY);
        leave(adaptive);
        adaptive.keptInVain();
        use(adaptive, 3 * MILLI, 1);
        assertThat(leave(adaptive)).isFalse();
    }

    @Test
    void aThreadThatWaitsForAConditionTellsNothingOfGaps() {
        use(adaptive, 0, MANY);
        assertThat(adaptive.keeps(current, false, now)).isFalse();
        adaptive.entered(now + SLICE);
        assertThat(leave(adaptive)).isTrue();
    }

    @Test
    void nothingIsKeptForThreadsToComeUnlessThatIsWanted() {
        KeepPolicy never = new KeepPolicy(SLICE, false, 0, false);
        use(never, 0, MANY);
        assertThat(leave(never)).isFalse();
        wantedInATurn();
        assertThat(leave(never)).isFalse();
    }

    @Test
    void whatReadersLeaveIsKeptForASliceInAnyCase() {
        assertThat(adaptive.keepsForReaders(current, now)).isTrue();
        assertThat(keptFor(adaptive)).isEqualTo(SLICE);
        current.demand = true;
        assertThat(adaptive.keepsForReaders(current, now)).isFalse();
    }

    // ---- names that others wait for

    @Test
    void aNameIsKeptForAsLongAsAHandOffTakesWhileOthersWait() {
        use(adaptive, 200 * MICRO, MANY);
        wantedInATurn();
        assertThat(leave(adaptive)).isTrue();
        assertThat(keptFor(adaptive)).isEqualTo(MILLI);
    }

    @Test
    void aNameIsGivenUpWhoseThreadsComeLaterThanAHandOffTakes() {
        use(adaptive, MILLI, MANY);
        wantedInATurn();
        assertThat(leave(adaptive)).isFalse();
    }

    @Test
    void aNameIsKeptUntilTheEndOfItsTurnAtMostWhileOthersWait() {
        use(adaptive, 200 * MICRO, MANY);
        wantedInATurn();
        now += SLICE - 400 * MICRO;
        assertThat(leave(adaptive)).isTrue();
        assertThat(keptFor(adaptive)).isEqualTo(400 * MICRO);
        now += 200 * MICRO;
        adaptive.entered(now);
        assertThat(leave(adaptive)).as("no thread is likely to come before").isFalse();
    }

    @Test
    void othersThatComeEndNoShortGapWithinATurn() {
        use(adaptive, 200 * MICRO, MANY);
        current.turnNanos = now;
        leave(adaptive);
        assertThat(keptFor(adaptive)).isEqualTo(SLICE);
        current.demand = true;
        assertThat(keptFor(adaptive)).isEqualTo(MILLI);
        adaptive.keptInVain();
        assertThat(leave(adaptive)).as("it may be late for once").isTrue();
    }
}
