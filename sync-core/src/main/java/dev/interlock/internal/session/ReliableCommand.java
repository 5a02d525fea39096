package dev.interlock.internal.session;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A command that has to get through, as a release has: it is repeated until Redis has confirmed it, or the lease that
 * it ends is over anyway. After the session is closed it isn't repeated.
 *
 * @param <R> what the confirmation brings
 */
public final class ReliableCommand<R> implements CommandLoop.Speaker<R> {
    /** Sends the command. */
    public interface Attempt<R> {
        /** Sends it. The first attempt may take the way that costs least. */
        CompletableFuture<R> send(boolean isFirst);
    }

    /** The longest pause after a refusal is this part of the lease. */
    private static final int PAUSES_IN_LEASE = 6;

    private final Session session;
    private final long number;
    private final Attempt<R> attempt;
    private final Predicate<Throwable> isFinal;
    private final long begunNanos;
    private final long leaseNanos;
    private final ReentrantLock mutex = new ReentrantLock();
    private final CompletableFuture<R> confirmed = new CompletableFuture<>();

    @GuardedBy("mutex")
    private final CommandLoop<R> loop;

    @GuardedBy("mutex")
    private boolean isSent;

    /** Before that it isn't repeated. */
    @GuardedBy("mutex")
    private long notBeforeNanos;

    /** Whether it is repeated also if there is no answer at all. */
    @GuardedBy("mutex")
    private boolean isInsisted;

    @GuardedBy("mutex")
    private @Nullable R answer;

    /** What the last attempt has failed by. */
    @GuardedBy("mutex")
    private @Nullable Throwable lastFailure;

    @GuardedBy("mutex")
    private @Nullable Throwable failure;

    private ReliableCommand(Session session, long leaseMillis, Predicate<Throwable> isFinal, Attempt<R> attempt) {
        this.session = session;
        this.number = session.nextCommand();
        this.attempt = attempt;
        this.isFinal = isFinal;
        this.begunNanos = session.now();
        this.leaseNanos = TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.notBeforeNanos = begunNanos;
        this.loop = new CommandLoop<>(session, mutex, this);
    }

    /**
     * Sends a command for the first time.
     *
     * @param leaseMillis for how long it is worthwhile
     * @param isFinal which failures end it at once. After others that seem to last it is repeated, too, since somebody
     *     may mend them: give a right back, or a key its type. The pauses between such repeats grow up to a sixth of
     *     the lease
     */
    public static <R> ReliableCommand<R> send(
            Session session, long leaseMillis, Predicate<Throwable> isFinal, Attempt<R> attempt) {
        ReliableCommand<R> command = new ReliableCommand<>(session, leaseMillis, isFinal, attempt);
        command.begin();
        return command;
    }

    private void begin() {
        mutex.lock();
        try {
            loop.tell();
        } finally {
            mutex.unlock();
        }
        // A first attempt that ends at once needs no timer, which a session that is closed has no more.
        changed();
    }

    long number() {
        return number;
    }

    /** Completes when Redis has confirmed it; fails when it is given up. */
    public CompletableFuture<R> confirmed() {
        return confirmed;
    }

    /** Returns what no repeat seems to mend that the last attempt has failed by. It is repeated all the same. */
    public @Nullable Throwable refusal() {
        mutex.lock();
        try {
            return lastFailure == null || Failures.isTransient(lastFailure) ? null : lastFailure;
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Repeats it also if there is no answer at all. A caller that waits for the answer need not ask for that before it
     * gives up.
     */
    @CanIgnoreReturnValue
    public ReliableCommand<R> insist() {
        mutex.lock();
        try {
            isInsisted = true;
            watch();
        } finally {
            mutex.unlock();
        }
        return this;
    }

    @GuardedBy("mutex")
    private void watch() {
        if (answer == null && failure == null) {
            session.watch(this);
        }
    }

    /** Repeats the first attempt, which has been silent for as long as anybody waits, and so on. */
    public void repeat() {
        insist();
        session.execute(this::look);
    }

    /** Repeats it if that is due: what nobody insists on only if it was refused, since it may have been executed. */
    void look() {
        mutex.lock();
        try {
            if (session.now() - notBeforeNanos >= 0 && (isInsisted || !loop.isInFlight())) {
                loop.beat(false);
            }
        } finally {
            mutex.unlock();
        }
        changed();
    }

    private boolean isWorthwhile() {
        return session.now() - begunNanos < leaseNanos && !session.isClosed();
    }

    // ---- the loop's events

    @Override
    @GuardedBy("mutex")
    public @Nullable CompletableFuture<R> say(long nowNanos) {
        if (answer != null || failure != null) {
            return null;
        }
        if (isSent && !isWorthwhile()) {
            failure = new RedisUnavailableException("not confirmed before the lease was over", lastFailure);
            return null;
        }
        boolean isFirst = !isSent;
        isSent = true;
        return attempt.send(isFirst);
    }

    @Override
    @GuardedBy("mutex")
    public void answered(long sentNanos, R reply) {
        answer = reply;
    }

    @Override
    public boolean isTransient(Throwable thrown) {
        return Failures.isTransient(thrown) && !isFinal.test(Failures.cause(thrown));
    }

    @Override
    @GuardedBy("mutex")
    public void failed(Throwable cause) {
        lastFailure = cause;
        if (!isWorthwhile()) {
            failure = cause;
        }
    }

    @Override
    @GuardedBy("mutex")
    public void refused(Throwable cause) {
        lastFailure = cause;
        if (isFinal.test(cause) || !isWorthwhile()) {
            failure = cause;
        } else {
            loop.tellLater();
            long now = session.now();
            notBeforeNanos = now
                    + Math.max(
                            session.settings().silenceNanos(),
                            Math.min(now - begunNanos, leaseNanos / PAUSES_IN_LEASE));
            watch();
        }
    }

    // Without the mutex, since the owners of those who wait for it have mutexes of their own.
    @Override
    public void changed() {
        R reply;
        Throwable cause;
        mutex.lock();
        try {
            reply = answer;
            cause = failure;
        } finally {
            mutex.unlock();
        }
        if (reply == null && cause == null) {
            return;
        }
        session.unwatch(this);
        if (reply != null) {
            confirmed.complete(reply);
        } else {
            confirmed.completeExceptionally(requireNonNull(cause));
        }
    }
}
