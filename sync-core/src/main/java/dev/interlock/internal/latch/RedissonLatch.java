package dev.interlock.internal.latch;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.ReliableCommand;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RFuture;

/**
 * The remote half of a latch over a latch object of Redisson's, whose scripts count. On behalf of all threads that wait
 * there is one request to Redisson at a time, which waits for a short while only: Redisson may have missed the message
 * that the latch is open.
 */
public final class RedissonLatch implements RemoteLatch, Participant, CommandLoop.Speaker<Boolean> {
    /** For how long Redisson waits by a message before it is made to ask again. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RedisSession session;
    private final RCountDownLatch latch;
    private final LocalLatch local;

    /** Comes before any lock of the session. */
    private final ReentrantLock mutex = new ReentrantLock();

    @GuardedBy("mutex")
    private final CommandLoop<Boolean> requests;

    @GuardedBy("mutex")
    private int waiting;

    private volatile boolean open;
    private volatile long known = UNKNOWN;
    private volatile @Nullable Throwable refusal;

    /** Creates the remote half over this latch object. */
    public RedissonLatch(RedisSession session, RCountDownLatch latch, LocalLatch local) {
        this.session = session;
        this.latch = latch;
        this.local = local;
        this.requests = new CommandLoop<>(session, mutex, LOOK_NANOS, this);
    }

    @Override
    public String name() {
        return latch.getName();
    }

    // A latch of this object that was open stays open, but Redisson's clients can set their latch again.
    @Override
    public boolean join(int wanted) {
        return !open;
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public long knownCount() {
        return open ? 0 : known;
    }

    @Override
    public long count() {
        ensureUsable();
        if (open) {
            return 0;
        }
        CompletableFuture<Long> asked = ask();
        Long count = session.await(asked);
        if (count == null) {
            throw failure(asked, "has not answered for");
        }
        return count;
    }

    private CompletableFuture<Long> ask() {
        return asked(latch::getCountAsync).whenComplete((count, failure) -> {
            if (count != null) {
                known = count;
                if (count == 0) {
                    open();
                }
            }
        });
    }

    @Override
    public void countDown() {
        mutex.lock();
        try {
            // Publishes what this thread has done before: threads that the latch lets pass take the mutex later.
            if (!open) {
                session.ensureOpen();
            }
        } finally {
            mutex.unlock();
        }
        if (open) {
            return;
        }
        // Without an answer nobody knows whether it has counted, and a repeat might count twice.
        CompletableFuture<Boolean> counted = ReliableCommand.send(
                        session,
                        session.settings().leaseMillis(),
                        failure -> !Failures.isRefused(failure),
                        isFirst -> asked(latch::countDownAsync).thenApply(done -> true))
                .confirmed();
        session.expect(counted, counted);
        if (session.await(counted) == null) {
            throw failure(counted, "has not confirmed the count-down of");
        }
    }

    private <T> CompletableFuture<T> asked(Supplier<RFuture<T>> command) {
        long sent = session.now();
        CompletableFuture<T> answer;
        try {
            answer = command.get().toCompletableFuture();
        } catch (RuntimeException e) {
            // A client that is shut down throws instead of returning a future.
            return CompletableFuture.failedFuture(e);
        }
        return answer.whenComplete((result, failure) -> {
            if (failure == null) {
                session.outage().heard();
            } else if (Failures.isTransient(failure)) {
                session.outage().failed(sent, Failures.cause(failure));
            }
        });
    }

    private RuntimeException failure(CompletableFuture<?> answer, String what) {
        Throwable cause = null;
        if (answer.isCompletedExceptionally()) {
            Throwable thrown = Failures.of(answer);
            // A count-down that was given up has the last attempt's failure as its cause.
            cause = thrown instanceof RedisUnavailableException ? thrown.getCause() : thrown;
            if (cause != null && !Failures.isTransient(cause)) {
                return refusal(cause);
            }
        }
        return new RedisUnavailableException("Redis " + what + " latch " + Names.quoted(name()), cause);
    }

    private IllegalStateException refusal(Throwable cause) {
        return Failures.refusal("latch " + Names.quoted(name()), cause);
    }

    @Override
    public CompletableFuture<?> arrive(boolean asks) {
        mutex.lock();
        try {
            ensureUsable();
            waiting++;
            session.pin(this, this);
            requests.beat(true);
        } finally {
            mutex.unlock();
        }
        return asks ? ask() : CompletableFuture.completedFuture(null);
    }

    @Override
    public void leave() {
        mutex.lock();
        try {
            waiting--;
            if (waiting == 0) {
                session.unpin(this, this);
                refusal = null;
            }
        } finally {
            mutex.unlock();
        }
    }

    // ---- requests to Redisson that wait for the latch

    @Override
    @GuardedBy("mutex")
    public @Nullable CompletableFuture<Boolean> say(long nowNanos) {
        return open || waiting == 0 || session.isClosed()
                ? null
                : asked(() -> latch.awaitAsync(LOOK_NANOS, TimeUnit.NANOSECONDS));
    }

    @Override
    public void answered(long sentNanos, Boolean opened) {
        if (opened) {
            open();
        } else {
            // Not at once: a request made by the answer to another would go round on Redisson's threads.
            session.execute(this::pulse);
        }
    }

    @Override
    @GuardedBy("mutex")
    public void refused(Throwable cause) {
        refusal = waiting > 0 ? cause : refusal;
    }

    private void open() {
        mutex.lock();
        try {
            open = true;
            local.open();
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public void ensureUsable() {
        if (!open) {
            session.ensureOpen();
            Throwable cause = refusal;
            if (cause != null) {
                throw refusal(cause);
            }
        }
    }

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        return null;
    }

    @Override
    public void pulse() {
        mutex.lock();
        try {
            requests.beat(true);
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public CompletableFuture<?> close() {
        // Threads that wait check that once a second.
        return CompletableFuture.completedFuture(null);
    }

    @Override
    public String toString() {
        return open ? "open" : "counting";
    }
}
