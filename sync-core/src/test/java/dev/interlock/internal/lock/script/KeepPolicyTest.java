package dev.interlock.internal.lock.script;

import static dev.interlock.internal.lock.script.LockReplies.granted;
import static dev.interlock.internal.lock.script.LockStateRig.step;
import static dev.interlock.internal.lock.script.LockStateRig.thread;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** For how long a session keeps a name, by its events alone. */
class KeepPolicyTest {
    private static final long SLICE = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long FIXED_MILLIS = 500;
    private static final long FIXED = TimeUnit.MILLISECONDS.toNanos(FIXED_MILLIS);

    private final LockStateRig rig = new LockStateRig(false);
    private final KeepPolicy adaptive = new KeepPolicy(SLICE, false, ScriptLock.ADAPTIVE);
    private long now;

    private LockTenure tenure() {
        rig.advance(thread("a"));
        rig.answer(granted(step(1), 10));
        now = rig.tenure().turnNanos;
        return rig.tenure();
    }

    /** Threads get the name again and again that the session gave up a moment ago and that nobody else has had. */
    private static LockTenure use(KeepPolicy policy, LockTenure granted, int times, long now) {
        granted.isNext = true;
        for (int i = 0; i < times; i++) {
            policy.ended(false, now);
            policy.begun(granted, now);
        }
        return granted;
    }

    private LockTenure thatPays() {
        return use(adaptive, tenure(), 3, now);
    }

    // ---- turns

    @Test
    void aTurnEndsASliceAfterItsStart() {
        LockTenure current = tenure();
        current.demand = true;
        assertThat(adaptive.isTurnOver(current, now + SLICE - 1)).isFalse();
        assertThat(adaptive.turnLeftNanos(current, now + SLICE - 1)).isEqualTo(1);
        assertThat(adaptive.isTurnOver(current, now + SLICE)).isTrue();
    }

    @Test
    void aTurnLastsWhileNobodyElseWaits() {
        assertThat(adaptive.isTurnOver(tenure(), now + 100 * SLICE)).isFalse();
    }

    @Test
    void aTurnOfAFairReadWriteLockEndsAsSoonAsOthersWait() {
        KeepPolicy fair = new KeepPolicy(SLICE, true, 0);
        LockTenure current = tenure();
        assertThat(fair.isTurnOver(current, now)).isFalse();
        current.demand = true;
        assertThat(fair.isTurnOver(current, now)).isTrue();
    }

    @Test
    void readersJoinAWriterUntilItsTurnEnds() {
        LockTenure current = tenure();
        current.demand = true;
        assertThat(adaptive.admits(current, now, now + SLICE - 1)).isTrue();
        assertThat(adaptive.admits(current, now, now + SLICE)).isFalse();
    }

    @Test
    void readersJoinReadersUnlessOthersCameBefore() {
        LockTenure current = tenure();
        current.shared = true;
        assertThat(adaptive.admits(current, now + SLICE, now + 2 * SLICE)).isTrue();
        current.demand = true;
        assertThat(adaptive.admits(current, current.startNanos, now + 2 * SLICE))
                .isFalse();
        assertThat(adaptive.admits(current, current.startNanos - 1, now + 2 * SLICE))
                .isTrue();
    }

    // ---- retention

    @Test
    void aFixedRetentionKeepsANameFromTheFirstTimeOn() {
        KeepPolicy fixed = new KeepPolicy(SLICE, false, FIXED_MILLIS);
        assertThat(fixed.keeps(true, false, now)).isTrue();
        assertThat(fixed.keptUntilNanos()).isEqualTo(now + FIXED);
        assertThat(fixed.keeps(false, false, now)).as("others wait").isFalse();
    }

    @Test
    void aRetentionCountsFromTheLastThreadThatLeft() {
        KeepPolicy fixed = new KeepPolicy(SLICE, false, FIXED_MILLIS);
        fixed.keeps(true, false, now);
        fixed.keeps(true, false, now + SLICE);
        assertThat(fixed.keptUntilNanos()).isEqualTo(now + SLICE + FIXED);
    }

    @Test
    void aNameIsKeptForASliceOnceThatWouldHavePaidThreeTimes() {
        LockTenure granted = use(adaptive, tenure(), 2, now);
        assertThat(adaptive.keeps(true, false, now)).isFalse();
        use(adaptive, granted, 1, now);
        assertThat(adaptive.keeps(true, false, now)).isTrue();
        assertThat(adaptive.keptUntilNanos()).isEqualTo(now + SLICE);
    }

    @Test
    void aNameIsKeptForTenMillisecondsAtMostHoweverLongASliceIs() {
        KeepPolicy longer = new KeepPolicy(20 * SLICE, false, ScriptLock.ADAPTIVE);
        use(longer, tenure(), 3, now);
        assertThat(longer.keeps(true, false, now)).isTrue();
        assertThat(longer.keptUntilNanos()).isEqualTo(now + TimeUnit.MILLISECONDS.toNanos(10));
    }

    @Test
    void aNameThatOthersHadInBetweenIsNotKept() {
        LockTenure granted = thatPays();
        granted.isNext = false;
        adaptive.keeps(false, false, now);
        adaptive.ended(false, now);
        adaptive.begun(granted, now);
        assertThat(adaptive.keeps(true, false, now)).isFalse();
    }

    @Test
    void aNameThatIsTakenLaterThanASliceIsNotKept() {
        LockTenure granted = thatPays();
        adaptive.keeps(false, false, now);
        adaptive.ended(false, now);
        adaptive.begun(granted, now + SLICE);
        assertThat(adaptive.keeps(true, false, now)).isFalse();
    }

    @Test
    void aNameThatIsKeptForThreadsThatComeGoesOnBeingKept() {
        thatPays();
        for (int i = 0; i < 10; i++) {
            assertThat(adaptive.keeps(true, false, now)).isTrue();
            adaptive.entered();
        }
    }

    @Test
    void aNameThatIsKeptInVainTimeAndAgainIsNotKept() {
        LockTenure granted = use(adaptive, tenure(), 8, now);
        granted.isNext = false;
        while (adaptive.keeps(true, false, now)) {
            adaptive.ended(false, now);
        }
        adaptive.begun(granted, now);
        assertThat(adaptive.keeps(true, false, now)).isFalse();
    }

    @Test
    void aNameThatIsKeptInVainWhileAnotherSessionWantsItIsNotKeptAgain() {
        use(adaptive, tenure(), 8, now);
        adaptive.keeps(true, false, now);
        adaptive.ended(true, now);
        assertThat(adaptive.keeps(true, false, now)).isFalse();
    }

    @Test
    void aNameIsNotKeptWhilePlainClientsAreAbout() {
        thatPays();
        assertThat(adaptive.keeps(true, true, now)).isFalse();
    }

    @Test
    void whatReadersLeaveIsKeptForASliceInAnyCase() {
        assertThat(adaptive.keepsForReaders(true, now)).isTrue();
        assertThat(adaptive.keptUntilNanos()).isEqualTo(now + SLICE);
        assertThat(adaptive.keepsForReaders(false, now)).as("others wait").isFalse();
    }
}
