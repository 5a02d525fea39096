package dev.interlock.internal;

import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Notices that the machine was suspended: its ticker stood still meanwhile, and the wall clock didn't. What Redis said
 * before that may be over although the ticker doesn't show it, so it is in doubt until Redis is asked again.
 *
 * <p>A wall clock that is set forward looks the same, so a suspension ends nothing by itself. One that is set back is
 * followed.
 */
public final class Suspensions {
    /** Two readings of the ticker are of the same moment if they are no further apart. */
    private static final long MOMENT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final int MOST_READINGS = 10;

    private final LongSupplier ticker;
    private final InstantSource wallClock;
    private final long toleratedNanos;

    /** By how much the wall clock was ahead of the ticker: the least since the last suspension. */
    private volatile long aheadNanos;

    /** When the last suspension was noticed, by the ticker. */
    private volatile long noticedNanos;

    /**
     * Begins to compare two clocks.
     *
     * @param toleratedNanos by how much the wall clock may run ahead
     */
    public Suspensions(LongSupplier ticker, InstantSource wallClock, long toleratedNanos) {
        this.ticker = ticker;
        this.wallClock = wallClock;
        this.toleratedNanos = toleratedNanos;
        this.noticedNanos = ticker.getAsLong();
        this.aheadNanos = wallNanos() - noticedNanos;
    }

    private long wallNanos() {
        return TimeUnit.MILLISECONDS.toNanos(wallClock.millis());
    }

    /** Compares the clocks. Returns the ticker's reading. */
    public long look() {
        long before = ticker.getAsLong();
        long ahead = wallNanos() - before;
        long now = ticker.getAsLong();
        // If the thread was descheduled in between, the clocks were read at different moments.
        for (int i = 1; now - before > MOMENT_NANOS && i < MOST_READINGS; i++) {
            before = now;
            ahead = wallNanos() - before;
            now = ticker.getAsLong();
        }
        long more = ahead - aheadNanos;
        if (more < 0 || more > toleratedNanos) {
            follow(ahead, now);
        }
        return now;
    }

    private synchronized void follow(long ahead, long now) {
        long more = ahead - aheadNanos;
        if (more > toleratedNanos) {
            noticedNanos = now;
            aheadNanos = ahead;
        } else if (more < 0) {
            aheadNanos = ahead;
        }
    }

    /** Returns whether what Redis answered to a command that was sent then is in doubt, as of the last look. */
    public boolean putInDoubt(long sentNanos) {
        return noticedNanos - sentNanos > 0;
    }
}
