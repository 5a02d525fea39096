package dev.interlock.internal.redisson;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Mailbox.Message;
import dev.interlock.internal.ScriptRunner;
import dev.interlock.internal.Session;
import dev.interlock.internal.Stake;
import dev.interlock.internal.semaphore.RemoteSemaphore;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RFuture;
import org.redisson.api.RSemaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a semaphore over a semaphore object of Redisson's: a counter, of which nobody knows whose permits are
 * missing. So they belong to nobody, and what was lost on its way stays lost.
 *
 * <p>What the session wants it asks Redisson for in slices of a second: a message that Redisson has missed costs no more than
 * that, one that comes just when a slice is over costs another. There is one request at a time. One that is no longer wanted is cancelled, and Redisson then gives back what it gets.
 */
public final class RedissonSemaphore implements RemoteSemaphore, Stake {
    private static final Logger log = LoggerFactory.getLogger(RedissonSemaphore.class);

    private static final Duration SLICE = Duration.ofSeconds(1);
    private static final Duration SILENCE = SLICE.multipliedBy(2);
    private static final long RETRY_MILLIS = 200;

    private final ReentrantLock mutex = new ReentrantLock();
    private final Session session;
    private final RSemaphore semaphore;
    private final Recipient recipient;

    private int wanted;
    private @Nullable Request request;
    private boolean closed;

    /** Whether the last request was given up because there was no answer. */
    private boolean stalled;

    /** Redisson's word on all that was given back or taken away so far. */
    private CompletableFuture<Void> said = CompletableFuture.completedFuture(null);

    /** How many permits the pool had when it was last looked at, and what was added since if that was a debt. */
    private long seen;

    private static final class Request {
        final int permits;
        final long sentNanos;

        /** Null while it is being made. */
        @Nullable
        CompletableFuture<Boolean> answer;

        Request(int permits, long sentNanos) {
            this.permits = permits;
            this.sentNanos = sentNanos;
        }
    }

    /** Creates the remote half over this semaphore object. */
    public RedissonSemaphore(Session session, RSemaphore semaphore, Recipient recipient) {
        this.session = session;
        this.semaphore = semaphore;
        this.recipient = recipient;
    }

    @Override
    public ReentrantLock mutex() {
        return mutex;
    }

    @Override
    public String name() {
        return semaphore.getName();
    }

    @Override
    public boolean isOwned() {
        return false;
    }

    @Override
    public int permits() {
        return 0;
    }

    @Override
    public CompletableFuture<Void> join() {
        return CompletableFuture.completedFuture(null);
    }

    // ---- waiting

    @Override
    public CompletableFuture<Void> tell(int back, int wants) {
        CompletableFuture<Void> told = back > 0 ? add(back) : CompletableFuture.completedFuture(null);
        wanted = wants;
        if (request != null && request.permits != wants) {
            withdraw();
        }
        ask();
        keepAlive();
        return told;
    }

    private void withdraw() {
        Request unwanted = request;
        request = null;
        if (unwanted != null && unwanted.answer != null) {
            unwanted.answer.cancel(false);
        }
    }

    private void ask() {
        if (wanted == 0 || request != null || closed) {
            return;
        }
        Request next = new Request(wanted, session.now());
        request = next;
        CompletableFuture<Boolean> answer = call(() -> semaphore.tryAcquireAsync(next.permits, SLICE));
        next.answer = answer;
        answer.whenComplete((acquired, failure) -> received(next, acquired, failure));
    }

    // Redisson throws at once if its client is shut down.
    private static <T> CompletableFuture<T> call(Supplier<RFuture<T>> command) {
        try {
            return command.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void received(Request of, @Nullable Boolean acquired, @Nullable Throwable failure) {
        mutex.lock();
        try {
            boolean isCurrent = request == of;
            if (isCurrent) {
                request = null;
            }
            if (failure == null) {
                session.outage().heard();
                stalled = false;
                if (Boolean.TRUE.equals(acquired)) {
                    grant(of, isCurrent);
                }
                ask();
            } else if (isCurrent) {
                failed(of.sentNanos, ScriptRunner.cause(failure));
            }
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    private void grant(Request of, boolean isCurrent) {
        if (isCurrent && wanted == of.permits) {
            wanted = 0;
            recipient.granted(of.permits);
        } else {
            add(of.permits);
        }
    }

    private void failed(long sentNanos, Throwable failure) {
        if (ScriptRunner.isTransient(failure)) {
            session.outage().failed(sentNanos, failure);
            session.schedule(this::askAgain, RETRY_MILLIS);
        } else {
            log.warn("Redisson refuses semaphore '{}': {}", name(), ScriptRunner.brief(failure));
            recipient.failed(() -> new IllegalStateException("Redisson refuses semaphore '" + name() + "'", failure));
        }
    }

    private void askAgain() {
        mutex.lock();
        try {
            ask();
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    private void keepAlive() {
        if (wanted > 0 || request != null || recipient.isWaiting() || !said.isDone()) {
            session.pin(this, this);
        } else {
            session.unpin(this, this);
        }
    }

    @Override
    public void pulse() {
        mutex.lock();
        try {
            Request current = request;
            if (current != null && session.now() - current.sentNanos >= SILENCE.toNanos()) {
                // Redisson owes an answer after the slice, but forgets it if a message comes just then.
                withdraw();
                if (stalled) {
                    failed(current.sentNanos, new RedisUnavailableException("no answer", null));
                }
                stalled = true;
            }
            if (session.outage().isTooLong() && recipient.isWaiting()) {
                Throwable cause = session.outage().cause();
                recipient.failed(() ->
                        new RedisUnavailableException("Redis has not answered for semaphore '" + name() + "'", cause));
            }
            ask();
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    // ---- giving back

    @Override
    public CompletableFuture<Void> add(int permits) {
        if (seen < 0) {
            seen += permits;
        }
        CompletableFuture<Void> told = say(
                call(() -> permits > 0 ? semaphore.releaseAsync(permits) : semaphore.addPermitsAsync(permits)),
                permits);
        if (permits < 0 || seen < 0) {
            // Redis has it before this is asked: it was sent before, and an older answer is corrected by this one.
            told.whenComplete((done, failure) -> look());
        }
        return told;
    }

    /** Redisson doesn't say whether a command that it has had no answer to was executed, so it isn't repeated. */
    private CompletableFuture<Void> say(CompletableFuture<Void> command, int permits) {
        long sentNanos = session.now();
        CompletableFuture<Void> told = new CompletableFuture<>();
        said = CompletableFuture.allOf(said, told);
        command.whenComplete((done, failure) -> {
            if (failure == null) {
                session.outage().heard();
            } else {
                Throwable cause = ScriptRunner.cause(failure);
                session.outage().failed(sentNanos, cause);
                log.warn(
                        "It isn't known whether {} permits were added to semaphore '{}': {}",
                        permits,
                        name(),
                        ScriptRunner.brief(cause));
            }
            told.complete(null);
            mutex.lock();
            try {
                keepAlive();
            } finally {
                mutex.unlock();
            }
        });
        return told;
    }

    @Override
    public CompletableFuture<Void> confirmed() {
        return said;
    }

    // ---- what is asked once

    @Override
    public CompletableFuture<Boolean> take(int permits) {
        CompletableFuture<Boolean> taking = new CompletableFuture<>();
        hear(call(() -> semaphore.tryAcquireAsync(permits)), taking, taken -> taken ? permits : 0);
        return taking;
    }

    @Override
    public CompletableFuture<Integer> drain() {
        CompletableFuture<Integer> draining = new CompletableFuture<>();
        hear(call(semaphore::drainPermitsAsync), draining, taken -> {
            seen = 0;
            return Math.max(0, taken);
        });
        return draining;
    }

    @Override
    public CompletableFuture<Integer> available() {
        CompletableFuture<Integer> available = new CompletableFuture<>();
        hear(call(semaphore::availablePermitsAsync), available, pool -> {
            seen = pool;
            return 0;
        });
        return available;
    }

    private void look() {
        mutex.lock();
        try {
            available();
        } finally {
            mutex.unlock();
        }
    }

    /** Tells how many permits an answer has brought. */
    private interface Booking<T> {
        int of(T answer);
    }

    /** Completes the result by the answer; what that has brought goes back if nobody wants the result any more. */
    private <T> void hear(CompletableFuture<T> answer, CompletableFuture<T> result, Booking<T> booking) {
        long sentNanos = session.now();
        answer.whenComplete((heard, failure) -> {
            mutex.lock();
            try {
                if (failure == null) {
                    session.outage().heard();
                    int booked = booking.of(heard);
                    if (!result.complete(heard) && booked > 0) {
                        add(booked);
                    }
                    return;
                }
                Throwable cause = ScriptRunner.cause(failure);
                if (ScriptRunner.isTransient(cause)) {
                    // Whoever waits gives up by his own time-out.
                    session.outage().failed(sentNanos, cause);
                } else {
                    result.completeExceptionally(cause);
                }
            } finally {
                mutex.unlock();
            }
        });
    }

    @Override
    public CompletableFuture<Void> resize(int permits) {
        return CompletableFuture.failedFuture(new UnsupportedOperationException(
                "an RSemaphore doesn't know how many permits it has in all; see its addPermits()"));
    }

    @Override
    public boolean isValid() {
        return true;
    }

    @Override
    public boolean isContended() {
        // Redisson tells nobody that others wait.
        return true;
    }

    @Override
    public boolean isOverdrawn() {
        return seen < 0;
    }

    @Override
    public @Nullable Renewal keep(long now) {
        return null;
    }

    @Override
    public void receive(Message message) {
        throw new IllegalStateException("no script of ours runs for '" + name() + "', yet there is " + message);
    }

    @Override
    public CompletableFuture<?> close() {
        mutex.lock();
        try {
            closed = true;
            wanted = 0;
            withdraw();
            Supplier<RuntimeException> reason = () -> new IllegalStateException("the Interlock session is closed");
            recipient.failed(reason);
            return said;
        } finally {
            mutex.unlock();
        }
    }

    @Override
    public String toString() {
        return "an adapted " + semaphore.getClass().getSimpleName();
    }
}
