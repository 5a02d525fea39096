package dev.interlock.internal.latch;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.RareLog;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What threads do with a latch, whatever its remote half is. They wait at the local half, and look at the state of the
 * remote half once a second: an outage doesn't open the local half.
 */
public final class LatchSync {
    private static final Logger log = LoggerFactory.getLogger(LatchSync.class);
    private static final RareLog OPENED = RareLog.once();

    /** The wait that never ends by itself. */
    public static final long FOREVER = RemoteWait.FOREVER;

    private final Session session;
    private final LocalLatch local;
    private final RemoteLatch remote;
    private final LatchState state;

    /** Joins the two halves. */
    public LatchSync(Session session, LocalLatch local, RemoteLatch remote) {
        this.session = session;
        this.local = local;
        this.remote = remote;
        this.state = remote.state();
    }

    /**
     * Joins the latch, or finds out whether what was joined is still the latch of this name.
     *
     * @param wanted what the caller believes that it begins with
     * @return whether it is; if not, another object has to be made
     * @throws IllegalArgumentException if the latch has begun with another count
     * @throws IllegalStateException if the session is closed, or Redis refuses
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public boolean join(int wanted) {
        session.ensureOpen();
        if (state.isLost()) {
            return false;
        }
        hear(session, state, remote.join(), "has not answered for");
        boolean isJoined = state.isJoined(wanted);
        if (isJoined && wanted > 0 && state.isOpen()) {
            OPENED.say(
                    session.id() + ' ' + state.name(),
                    often -> log.info(
                            "The count of {} is zero already, so that nobody waits for it. A name serves once, until"
                                    + " the retention of its latch is over: another round needs another name",
                            state.described()));
        }
        return isJoined;
    }

    /**
     * Asks for the count, unless the latch is known to be open.
     *
     * @throws IllegalStateException if the latch is lost, its session closed, or Redis refuses
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public long count() {
        state.ensureAlive(session.isClosed());
        if (!state.isOpen()) {
            hear(session, state, remote.ask(), "has not answered for");
            state.ensureAlive(session.isClosed());
        }
        return state.knownCount();
    }

    /** Waits for an answer, one command time-out at most, and throws what it has failed by. */
    public static void hear(Session session, LatchState state, CompletableFuture<?> answer, String what) {
        session.await(answer);
        if (!answer.isDone()) {
            long millis = session.settings().commandTimeoutMillis();
            throw unavailable(state, what, millis, session.outage().cause());
        } else if (answer.isCompletedExceptionally()) {
            Throwable thrown = Failures.of(answer);
            // A command that was given up has the last attempt's failure as its cause.
            Throwable cause = thrown instanceof RedisUnavailableException ? thrown.getCause() : thrown;
            if (cause == null || Failures.isTransient(cause)) {
                throw new RedisUnavailableException("Redis " + what + " " + state.described(), cause);
            }
            throw state.refusal(cause);
        }
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
        if (state.isOpen()) {
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
            state.ensureUsable(session.isClosed());
            if (local.await(Math.min(left, RemoteWait.LOOK_NANOS))) {
                state.ensureUsable(session.isClosed());
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
        state.ensureUsable(session.isClosed());
        if (state.isOpen()) {
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
        long millis = TimeUnit.NANOSECONDS.toMillis(waitedNanos);
        return unavailable(
                state, "has not answered for", millis, session.outage().cause());
    }

    private static RedisUnavailableException unavailable(
            LatchState state, String what, long millis, @Nullable Throwable cause) {
        return new RedisUnavailableException(
                "Redis " + what + " " + state.described() + " within " + millis + " ms", cause);
    }
}
