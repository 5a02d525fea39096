package dev.interlock.internal.session;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.Suspensions;
import dev.interlock.internal.redis.Settings;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of a lease that it has in Redis: until when it may take it for granted without asking, and
 * whether it is lost. The validity lies safely before the end of the lease in Redis; a loss, once seen, stays.
 *
 * <p>A machine that was suspended after Redis was asked has less left of the lease than its ticker shows. Then the
 * lease is in doubt: neither certain nor over, until Redis has been asked again.
 */
public final class Lease {
    private final Suspensions suspensions;

    /** When the command was sent whose reply told of the validity. */
    private volatile long sentNanos;

    private volatile long validUntilNanos;
    private volatile @Nullable LeaseLostException loss;

    /**
     * Begins with a validity.
     *
     * @param sentNanos when the command was sent whose reply told of it
     */
    public Lease(Suspensions suspensions, long sentNanos, long validUntilNanos) {
        this.suspensions = suspensions;
        this.sentNanos = sentNanos;
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

    /** Returns when the command was sent whose reply told of its validity. */
    long sentNanos() {
        return sentNanos;
    }

    /** Returns until when it is valid by the ticker. */
    public long validUntilNanos() {
        return validUntilNanos;
    }

    /** Says until when it is valid. */
    public void setValidUntil(long nanos) {
        validUntilNanos = nanos;
    }

    /**
     * Redis has renewed it, or has told how much is left of it. A reply that was overtaken changes nothing; but one
     * that ends a doubt replaces what was known before. The caller has {@linkplain Suspensions#look looked} at the
     * clocks.
     *
     * @param sent when the command was sent
     */
    public void extendTo(long sent, long nanos) {
        boolean wasInDoubt = isInDoubt();
        boolean isDoubtful = suspensions.putInDoubt(sent);
        if (wasInDoubt && !isDoubtful) {
            validUntilNanos = nanos;
        } else if (wasInDoubt == isDoubtful) {
            validUntilNanos = later(validUntilNanos, nanos);
        }
        sentNanos = later(sentNanos, sent);
    }

    /** Returns whether it is certain to be valid. */
    public boolean isValid(long nowNanos) {
        return nowNanos - validUntilNanos < 0 && loss == null && !isInDoubt();
    }

    /** Returns whether it was seen to be lost, or is over by the ticker. */
    public boolean isOver(long nowNanos) {
        return nowNanos - validUntilNanos >= 0 || loss != null;
    }

    /** Returns whether the machine was suspended since Redis was asked, as of the last look at its clocks. */
    public boolean isInDoubt() {
        return suspensions.putInDoubt(sentNanos);
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
