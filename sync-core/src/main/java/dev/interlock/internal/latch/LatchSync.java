package dev.interlock.internal.latch;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * What threads do that wait for a latch, whatever its remote half is. They stand at the gate, and look around once a
 * second: an outage opens no gate.
 */
public final class LatchSync {
    /** The wait that never ends by itself. */
    public static final long FOREVER = Long.MAX_VALUE;

    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The least time for the first answer, however short the wait is. */
    private static final long FIRST_ANSWER_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Session session;
    private final LocalLatch gate;
    private final RemoteLatch latch;

    /** Creates what threads do at this gate. */
    public LatchSync(Session session, LocalLatch gate, RemoteLatch latch) {
        this.session = session;
        this.gate = gate;
        this.latch = latch;
    }

    /**
     * Waits for the latch. A wait of zero or less asks once.
     *
     * @return whether it is open; if not, Redis has said so within the wait
     * @throws IllegalStateException if the latch is lost or its session closed
     * @throws RedisUnavailableException if Redis has not answered within the wait, or for too long if that is
     *     {@link #FOREVER}
     */
    public boolean await(long waitNanos) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (latch.isOpen()) {
            return true;
        }
        boolean timed = waitNanos != FOREVER;
        long begun = session.now();
        CompletableFuture<?> heard = latch.arrive(timed);
        try {
            for (long left = waitNanos; left > 0; left = timed ? waitNanos - (session.now() - begun) : FOREVER) {
                latch.ensureUsable();
                if (gate.await(Math.min(left, LOOK_NANOS))) {
                    latch.ensureUsable();
                    return true;
                }
                if (!timed && session.outage().isTooLong()) {
                    throw unavailable(session.now() - begun);
                }
            }
            hear(heard, grace(waitNanos) - (session.now() - begun));
            latch.ensureUsable();
            if (latch.isOpen()) {
                return true;
            }
            if (!heard.isDone()
                    || heard.isCompletedExceptionally()
                    || session.outage().isActive()) {
                throw unavailable(session.now() - begun);
            }
            return false;
        } finally {
            latch.leave();
        }
    }

    private long grace(long waitNanos) {
        long timeoutNanos = TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
        return waitNanos <= 0 ? timeoutNanos : Math.max(waitNanos, Math.min(FIRST_ANSWER_NANOS, timeoutNanos));
    }

    private static void hear(CompletableFuture<?> answer, long nanos) throws InterruptedException {
        try {
            answer.get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // The caller looks whether there is an answer.
            return;
        }
    }

    private RedisUnavailableException unavailable(long waitedNanos) {
        return new RedisUnavailableException(
                "Redis has not answered for latch " + Keys.quoted(latch.name()) + " within "
                        + TimeUnit.NANOSECONDS.toMillis(waitedNanos) + " ms",
                session.outage().cause());
    }
}
