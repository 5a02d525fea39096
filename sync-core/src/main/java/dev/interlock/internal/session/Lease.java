package dev.interlock.internal.session;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.redis.Settings;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of a lease that it has in Redis: until when it may take it for granted without asking, and
 * whether it is lost. The validity lies safely before the end of the lease in Redis; a loss, once seen, stays.
 */
public final class Lease {
    private volatile long validUntilNanos;
    private volatile @Nullable LeaseLostException loss;

    /** Begins with a validity. */
    public Lease(long validUntilNanos) {
        this.validUntilNanos = validUntilNanos;
    }

    /**
     * Returns until when a lease is safely valid.
     *
     * @param sentNanos when the command was first sent whose reply told of the lease
     * @param ttlMillis what was left of it in that reply
     */
    public static long validUntil(long sentNanos, long ttlMillis) {
        return sentNanos + TimeUnit.MILLISECONDS.toNanos(ttlMillis - Settings.marginMillis(ttlMillis));
    }

    /** Returns the later one of two readings of the ticker. */
    public static long later(long a, long b) {
        return a - b > 0 ? a : b;
    }

    /** Returns until when it is valid. */
    public long validUntilNanos() {
        return validUntilNanos;
    }

    /** Says until when it is valid. */
    public void setValidUntil(long nanos) {
        validUntilNanos = nanos;
    }

    /** A renewal has prolonged it. One that was overtaken changes nothing. */
    public void extendTo(long nanos) {
        validUntilNanos = later(validUntilNanos, nanos);
    }

    /** Returns whether it is valid, and was never seen to be lost. */
    public boolean isValid(long nowNanos) {
        return nowNanos - validUntilNanos < 0 && loss == null;
    }

    /** Marks it lost. Returns the loss that was known before, or null if this is the first. */
    public synchronized @Nullable LeaseLostException lose(LeaseLostException news) {
        LeaseLostException known = loss;
        if (known == null) {
            loss = news;
        }
        return known;
    }

    /**
     * Returns when it is over in Redis, once it is lost: at once if it was still valid, so that Redis must have ended
     * it; else when the margin is over by which its validity was shorter.
     */
    public long freeNanos(long lostNanos, long leaseMillis) {
        boolean isOver = lostNanos - validUntilNanos >= 0;
        return isOver ? validUntilNanos + TimeUnit.MILLISECONDS.toNanos(Settings.marginMillis(leaseMillis)) : lostNanos;
    }

    /** Returns the loss, if it was seen to be lost. */
    public @Nullable LeaseLostException loss() {
        return loss;
    }
}
