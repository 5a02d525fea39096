package dev.interlock;

import dev.interlock.internal.redis.Failures;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The opening of a session: several attempts within one patience, since a Redis that is slow, or whose machine is,
 * looks at first like one that is absent. An attempt whose failure lasts is the only one.
 */
final class Opening {
    /** Before the next attempt, if Redis has answered at once that it isn't ready. */
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private Opening() {}

    /**
     * Makes attempts until one succeeds, its failure lasts, or the patience is over.
     *
     * @param patienceNanos after which no attempt begins
     * @param isOneServer whether nobody else can take the place of a server that isn't there
     * @throws RedisUnavailableException says what was tried, and for how long
     */
    static <T> T open(long patienceNanos, boolean isOneServer, Supplier<T> attempt) {
        long begun = System.nanoTime();
        for (int attempts = 1; ; attempts++) {
            try {
                return attempt.get();
            } catch (RedisUnavailableException e) {
                Throwable cause = e.getCause();
                long elapsed = System.nanoTime() - begun;
                if (isLasting(cause, isOneServer)) {
                    throw e;
                }
                if (elapsed >= patienceNanos || Thread.currentThread().isInterrupted()) {
                    throw new RedisUnavailableException(
                            e.getMessage() + (Failures.isSilence(cause) ? " for " : "; tried for ")
                                    + TimeUnit.NANOSECONDS.toSeconds(elapsed) + " s (" + attempts
                                    + (attempts == 1 ? " attempt)" : " attempts)"),
                            cause);
                }
                pause();
            }
        }
    }

    /** An interrupt ends it, a permit that is left from what the attempt waited in doesn't. */
    private static void pause() {
        long begun = System.nanoTime();
        for (long left = PAUSE_NANOS;
                left > 0 && !Thread.currentThread().isInterrupted();
                left = PAUSE_NANOS - (System.nanoTime() - begun)) {
            LockSupport.parkNanos(Opening.class, left);
        }
    }

    private static boolean isLasting(@Nullable Throwable cause, boolean isOneServer) {
        return cause != null && (Failures.isTurnedAway(cause) || (isOneServer && Failures.isAbsent(cause)));
    }
}
