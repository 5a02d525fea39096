package dev.interlock.internal.semaphore;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** How threads wait for an answer of the pool, and what they throw if there is none, or that is no. */
final class Answers {
    private static final long FOREVER = Long.MAX_VALUE;
    private static final long GLANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    private final Session session;
    private final String name;

    Answers(Session session, String name) {
        this.session = session;
        this.name = name;
    }

    /**
     * Waits in slices, since nobody wakes the thread when the session is closed or Redis has been silent for too long.
     *
     * @param waitNanos the longest wait, {@link Long#MAX_VALUE} for ever
     * @param start since when
     */
    void await(CompletableFuture<Void> answer, boolean interruptible, long waitNanos, long start)
            throws InterruptedException {
        Thread waiting = Thread.currentThread();
        answer.whenComplete((done, thrown) -> LockSupport.unpark(waiting));
        boolean interrupted = false;
        session.spinner().awaits(answer);
        try {
            while (!answer.isDone()) {
                session.ensureOpen();
                if (Thread.interrupted()) {
                    if (interruptible) {
                        throw new InterruptedException();
                    }
                    interrupted = true;
                }
                long left = waitNanos == FOREVER ? FOREVER : waitNanos - (session.now() - start);
                if (left <= 0 || session.outage().isTooLong()) {
                    throw unavailable();
                }
                LockSupport.parkNanos(this, Math.min(left, GLANCE_NANOS));
            }
            if (answer.isCompletedExceptionally()) {
                throw refusal(answer);
            }
        } finally {
            if (interrupted) {
                waiting.interrupt();
            }
        }
    }

    /** Throws if nobody knows whether there would have been permits. */
    void throwIfSilent() {
        session.ensureOpen();
        if (session.outage().isActive()) {
            throw unavailable();
        }
    }

    RedisUnavailableException unavailable() {
        return new RedisUnavailableException(
                "Redis has not answered for semaphore " + Keys.quoted(name),
                session.outage().cause());
    }

    /** Returns what to throw for a refusal. */
    RuntimeException refusal(CompletableFuture<?> refused) {
        Throwable cause =
                Failures.cause(refused.handle((result, thrown) -> thrown).join());
        return cause instanceof IllegalArgumentException || cause instanceof UnsupportedOperationException
                ? (RuntimeException) cause
                : Failures.refusal("semaphore " + Keys.quoted(name), cause);
    }
}
