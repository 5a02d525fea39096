package dev.interlock.spring;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Begins a run unless another one goes on, or the last one began too lately. A {@link Hold} says the former. A bucket
 * says the latter, which one token enters every {@link #STEP}: a run takes as many as come in the time for which no
 * other may begin, and another one begins only when the bucket is full again. So that time is what the last run has
 * stated, whatever the next one states. The bucket is in Redis, belongs to no session or lease, and is emptied with the
 * beginning of the run, so nobody has to wait for its end.
 *
 * <p>The hold comes first: a call that finds a run must not use up the tokens of the next one. It also keeps others out
 * between the look at the bucket and the run's own request; if it was lost in between, that request finds out.
 */
final class OncePerPeriod {
    private static final Logger log = LoggerFactory.getLogger(OncePerPeriod.class);

    private static final Duration STEP = Duration.ofMillis(50);

    /** The most tokens are those of 578 days. */
    private static final RateLimit BUCKET = RateLimit.tokenBucket(1, STEP).withBurst(RateLimit.MOST_PERMITS);

    /** The longest that the end of a run waits for Redis to confirm it. */
    private static final Duration CONFIRMATION = Duration.ofSeconds(3);

    /** The longest that a thread waits for an extension: longer than a command takes until it fails. */
    private static final Duration EXTENSION = Duration.ofSeconds(30);

    private OncePerPeriod() {}

    /**
     * Returns the hold of the run if that may begin; null otherwise, also if the current thread has such a hold.
     *
     * @param atLeast from the beginning of this run to that of the next; 0 for no such limit
     * @param atMost the lease of the hold, which isn't renewed then, or null for one that is renewed
     */
    static @Nullable Hold tryBegin(Interlock interlock, String name, Duration atLeast, @Nullable Duration atMost) {
        Holds holds = atMost == null ? interlock.holds() : interlock.holds().lease(atMost);
        Hold hold = tryHold(holds, name);
        if (hold == null) {
            return null;
        }
        boolean admitted = false;
        try {
            admitted = take(interlock.rateLimiter(name, BUCKET), atLeast);
        } finally {
            if (!admitted) {
                // A loss is of no account: nothing has run.
                release(hold);
            }
        }
        return admitted ? hold : null;
    }

    /** Asks once. Interrupts are for the run. */
    private static @Nullable Hold tryHold(Holds holds, String name) {
        boolean isInterrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return holds.tryHold(name, Duration.ZERO).orElse(null);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Ends a run, and waits for a while until Redis has confirmed that: a JVM that dies when the run is over must not
     * block the next one.
     *
     * @throws LeaseLostException if the hold was lost, so that the run may have overlapped with another one
     */
    static void end(Hold hold) {
        LeaseLostException loss = release(hold);
        if (loss != null) {
            throw new LeaseLostException(loss);
        }
    }

    /** Returns the loss, if there was one. */
    private static @Nullable LeaseLostException release(Hold hold) {
        try {
            Uninterruptibles.getUninterruptibly(hold.release().toCompletableFuture(), CONFIRMATION);
        } catch (ExecutionException e) {
            return lossOf(e.getCause());
        } catch (TimeoutException e) {
            log.debug("The end of a run wasn't confirmed within {}; the session repeats it", CONFIRMATION, e);
        }
        return null;
    }

    /** Returns the loss that the end of a run has failed by, if it has; any other failure is logged. */
    static @Nullable LeaseLostException lossOf(@Nullable Throwable failure) {
        if (failure instanceof LeaseLostException loss) {
            return loss;
        }
        if (failure instanceof RedisUnavailableException) {
            log.debug("The end of a run wasn't confirmed before its lease was over", failure);
        } else {
            log.warn("The end of a run has failed; the next one can't begin before its lease is over", failure);
        }
        return null;
    }

    /**
     * Extends the hold of a run, and delays the next run. Shortens neither.
     *
     * @param atLeast from now to the beginning of the next run
     * @param atMost the lease from now on
     * @throws LeaseLostException if the hold was lost
     */
    static void extend(Interlock interlock, Hold hold, String name, Duration atLeast, Duration atMost) {
        try {
            Uninterruptibles.getUninterruptibly(hold.extend(atMost).toCompletableFuture(), EXTENSION);
        } catch (ExecutionException e) {
            Throwable cause = e.getCause();
            if (cause instanceof LeaseLostException loss) {
                throw new LeaseLostException(loss);
            }
            String message = "The lease of a run wasn't extended";
            throw cause instanceof RedisUnavailableException
                    ? new RedisUnavailableException(message, cause)
                    : new IllegalStateException(message, cause);
        } catch (TimeoutException e) {
            throw new RedisUnavailableException("The lease of a run wasn't extended within " + EXTENSION, e);
        }
        RateLimiter bucket = interlock.rateLimiter(name, BUCKET);
        long missing = tokens(atLeast) - (BUCKET.burst() - bucket.availablePermits());
        if (missing > 0) {
            // Nobody else takes any while this run has the hold.
            bucket.decide(missing);
        }
    }

    private static long tokens(Duration time) {
        return time.plus(STEP).minusNanos(1).dividedBy(STEP);
    }

    private static boolean take(RateLimiter bucket, Duration atLeast) {
        if (bucket.availablePermits() < BUCKET.burst()) {
            return false;
        }
        if (atLeast.isZero()) {
            return true;
        }
        long tokens = tokens(atLeast);
        Decision decision = bucket.decide(tokens);
        return decision.allowed() && decision.remaining() == BUCKET.burst() - tokens;
    }
}
