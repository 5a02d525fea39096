package dev.interlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What counts as a suspension of the machine, by its two clocks. */
class SuspensionsTest {
    private static final long TOLERATED_MILLIS = 50;

    private long tickerNanos;
    private long wallMillis;
    private Suspensions suspensions = suspensions(() -> tickerNanos);

    private Suspensions suspensions(LongSupplier ticker) {
        long tolerated = TimeUnit.MILLISECONDS.toNanos(TOLERATED_MILLIS);
        return new Suspensions(ticker, () -> Instant.ofEpochMilli(wallMillis), tolerated);
    }

    private void begin(long nanos) {
        tickerNanos = nanos;
        suspensions = suspensions(() -> tickerNanos);
    }

    /** Time passes by both clocks, and one of them is looked at more often than not. */
    private long pass(long tickerMillis, long millis) {
        tickerNanos += TimeUnit.MILLISECONDS.toNanos(tickerMillis);
        wallMillis += millis;
        return suspensions.look();
    }

    /** Also where the ticker overflows, or is negative as it may be. */
    @ParameterizedTest
    @ValueSource(longs = {0, 1_000, Long.MAX_VALUE - 5_000_000, Long.MIN_VALUE, -1})
    void aTickerThatStoodStillPutsInDoubtWhatWasAskedBefore(long begun) {
        begin(begun);
        long asked = pass(10, 10);
        assertThat(suspensions.putInDoubt(asked)).isFalse();
        long noticed = pass(10, 9_000);
        assertThat(suspensions.putInDoubt(asked)).isTrue();
        assertThat(suspensions.putInDoubt(noticed)).as("asked afterwards").isFalse();
        pass(10_000, 10_000);
        assertThat(suspensions.putInDoubt(noticed)).isFalse();
    }

    @Test
    void shortOnesCountTogether() {
        long asked = pass(1_000, 1_000);
        pass(10, 40);
        assertThat(suspensions.putInDoubt(asked)).isFalse();
        pass(10, 40);
        assertThat(suspensions.putInDoubt(asked)).isTrue();
    }

    @Test
    void aWallClockThatIsSetBackIsFollowed() {
        long asked = pass(1_000, 1_000);
        pass(10, -3_600_000);
        assertThat(suspensions.putInDoubt(asked)).isFalse();
        pass(10, 9_000);
        assertThat(suspensions.putInDoubt(asked)).isTrue();
    }

    @Test
    void aTickerThatRunsAheadIsNoSuspension() {
        long asked = pass(1_000, 1_000);
        pass(60_000, 10);
        assertThat(suspensions.putInDoubt(asked)).isFalse();
    }

    /** The thread was descheduled between its readings of the two clocks. */
    @Test
    void clocksThatWereReadAtDifferentMomentsAreReadAgain() {
        var readings = new Object() {
            int left;
        };
        suspensions = suspensions(() -> {
            if (readings.left > 0) {
                readings.left--;
                tickerNanos += TimeUnit.SECONDS.toNanos(1);
                wallMillis += 1_000;
            }
            return tickerNanos;
        });
        long asked = suspensions.look();
        readings.left = 3;
        suspensions.look();
        pass(1_000, 1_000);
        assertThat(suspensions.putInDoubt(asked)).isFalse();
    }
}
