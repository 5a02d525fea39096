package dev.interlock.ratelimit.fleet;

import dev.interlock.testing.Monotonic;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The wrong clock of a JVM.
 *
 * @param startNanos what it says at first
 * @param pace how fast it runs, 1 being right
 */
record Skew(long startNanos, double pace) {

    private static final long SOON = TimeUnit.SECONDS.toNanos(4);

    /** Years ahead, and a bit slow. */
    static final Skew AHEAD = new Skew(TimeUnit.DAYS.toNanos(100 * 365), 0.97);

    /** Years behind. */
    static final Skew BEHIND = new Skew(TimeUnit.DAYS.toNanos(-100 * 365), 1);

    /** Overflows soon. */
    static final Skew OVERFLOWING = new Skew(Long.MAX_VALUE - SOON, 1);

    /** Negative at first, and a bit fast. */
    static final Skew FAST = new Skew(-SOON, 1.03);

    LongSupplier ticker() {
        long origin = Monotonic.nanos();
        return () -> startNanos + (long) ((Monotonic.nanos() - origin) * pace);
    }

    /** How many permits its JVM takes ahead. It uses them by its own clock, which may be wrong, but may not be slow. */
    long ahead(Kind kind) {
        return pace < 1 ? 1 : kind.ahead();
    }

    static Skew parse(String word) {
        String[] parts = word.split(",", 2);
        return new Skew(Long.parseLong(parts[0]), Double.parseDouble(parts[1]));
    }

    String word() {
        return startNanos + "," + pace;
    }
}
