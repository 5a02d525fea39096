package dev.interlock.ratelimit.fleet;

import dev.interlock.testing.Monotonic;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * How much more the wall clock of this machine, which is that of a Redis on it, says than the monotonic one.
 *
 * @param least at least so many nanoseconds
 * @param most at most so many nanoseconds
 */
record WallClock(long least, long most) {

    private static final int LOOKS = 100;

    /** Looks at both clocks. */
    static WallClock look() {
        WallClock best = once();
        for (int i = 0; i < LOOKS; i++) {
            WallClock next = once();
            if (next.error() < best.error()) {
                best = next;
            }
        }
        return best;
    }

    private static WallClock once() {
        long before = Monotonic.nanos();
        long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
        long after = Monotonic.nanos();
        return new WallClock(micros * 1_000 - after, (micros + 1) * 1_000 - before);
    }

    private long error() {
        return most - least;
    }

    /** Returns what may have been true at any time between two looks. */
    WallClock and(WallClock later) {
        return new WallClock(Math.min(least, later.least), Math.max(most, later.most));
    }
}
