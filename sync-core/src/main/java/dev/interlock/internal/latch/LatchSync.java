package dev.interlock.internal.latch;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * How threads wait for a latch, whatever its remote half is. They wait at the local half, and look at the state of the
 * remote half once a second: an outage doesn't open the local half.
 */
public final class LatchSync {
    /** The wait that never ends by itself. */
    public static final long FOREVER = RemoteWait.FOREVER;

    private final Session session;
    private final LocalLatch local;
    private final RemoteLatch remote;

    /** Joins the two halves. */
    public LatchSync(Session session, LocalLatch local, RemoteLatch remote) {
        this.session = session;
        this.local = local;
        this.remote = remote;
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
        if (remote.isOpen()) {
            return true;
        }
        try (RemoteWait wait = new RemoteWait(session, true, waitNanos, this::unavailable)) {
            CompletableFuture<?> answer = remote.arrive(wait.isTimed());
            try {
                return awaitLocally(wait) || isOpen(wait, answer);
            } finally {
                remote.leave();
            }
        }
    }

    private boolean awaitLocally(RemoteWait wait) throws InterruptedException {
        for (long left = wait.callersLeftNanos(); left > 0 && !wait.isOnce(); left = wait.callersLeftNanos()) {
            remote.ensureUsable();
            if (local.await(Math.min(left, RemoteWait.LOOK_NANOS))) {
                remote.ensureUsable();
                return true;
            }
            wait.checkOutage();
        }
        return false;
    }

    /**
     * The caller's time is over: returns what Redis has answered by now, or does within the time for a first answer.
     */
    private boolean isOpen(RemoteWait wait, CompletableFuture<?> answer) throws InterruptedException {
        answer.whenComplete((done, failure) -> wait.wake());
        // What a closed session means, the remote half knows: a latch that is open remains so.
        wait.until(() -> answer.isDone() || session.isClosed(), this, wait.leftNanos());
        remote.ensureUsable();
        if (remote.isOpen()) {
            return true;
        }
        if (!answer.isDone()
                || answer.isCompletedExceptionally()
                || session.outage().isActive()) {
            throw wait.unavailable();
        }
        return false;
    }

    private RedisUnavailableException unavailable(long waitedNanos) {
        return new RedisUnavailableException(
                "Redis has not answered for latch " + Names.quoted(remote.name()) + " within "
                        + TimeUnit.NANOSECONDS.toMillis(waitedNanos) + " ms",
                session.outage().cause());
    }
}
