package dev.interlock.spring;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins a run unless another one goes on, or the last one began too lately. The lock says the former, as long as the
 * thread that has begun the run holds it. A bucket says the latter, which one token enters every {@link #STEP}: a run
 * takes as many as come in the time for which no other may begin, and another one begins only when the bucket is full
 * again. So that time is what the last run has stated, whatever the next one states. The bucket is in Redis, belongs to
 * no thread, session or lease, and is emptied with the beginning of the run, so nobody has to wait for its end.
 *
 * <p>The lock comes first: a call that finds a run must not use up the tokens of the next one. It also keeps others out
 * between the look at the bucket and the run's own request; if it was lost in between, that request finds out.
 */
final class OncePerPeriod {
    private static final Logger log = LoggerFactory.getLogger(OncePerPeriod.class);

    private static final Duration STEP = Duration.ofMillis(50);

    /** The most tokens are those of 578 days. */
    private static final RateLimit BUCKET = RateLimit.tokenBucket(1, STEP).withBurst(RateLimit.MOST_PERMITS);

    private OncePerPeriod() {}

    /**
     * Returns the lock if the run may begin, held by this thread; null otherwise.
     *
     * @param atLeast from the beginning of this run to that of the next; 0 for no such limit
     * @param atMost the lease of the lock, which isn't renewed then, or null for one that is renewed
     */
    static @Nullable DistributedReentrantLock tryBegin(
            Interlock interlock, String name, Duration atLeast, @Nullable Duration atMost) {
        // Confirmed: a JVM that dies when the run is over must not block the next one.
        DistributedReentrantLock lock = interlock.lock(name, LockOptions.confirmUnlock());
        boolean isInside = lock.isHeldByCurrentThread() && !(atMost != null && endsLost(lock));
        if (isInside || !tryLock(lock, atMost)) {
            return null;
        }
        boolean admitted = false;
        try {
            admitted = take(interlock.rateLimiter(name, BUCKET), atLeast);
        } finally {
            if (!admitted) {
                lock.unlock();
            }
        }
        return admitted ? lock : null;
    }

    /**
     * Ends a run of this thread whose lease is over, if it is: nobody has to have unlocked it for the next one to
     * begin.
     */
    private static boolean endsLost(DistributedReentrantLock lock) {
        try {
            lock.assertHeld();
            return false;
        } catch (LeaseLostException lost) {
            try {
                lock.unlock();
            } catch (LeaseLostException known) {
                log.debug("A run was still going on when its lease ended", known);
            }
            return true;
        }
    }

    private static boolean take(RateLimiter bucket, Duration atLeast) {
        if (bucket.availablePermits() < BUCKET.burst()) {
            return false;
        }
        if (atLeast.isZero()) {
            return true;
        }
        long tokens = atLeast.plus(STEP).minusNanos(1).dividedBy(STEP);
        Decision decision = bucket.decide(tokens);
        return decision.allowed() && decision.remaining() == BUCKET.burst() - tokens;
    }

    private static boolean tryLock(DistributedReentrantLock lock, @Nullable Duration atMost) {
        if (atMost == null) {
            return lock.tryLock();
        }
        try {
            return lock.tryLock(0, atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
