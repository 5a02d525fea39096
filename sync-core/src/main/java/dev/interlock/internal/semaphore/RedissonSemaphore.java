package dev.interlock.internal.semaphore;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.CommandLoop;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.ReliableCommand;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RFuture;
import org.redisson.api.RSemaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a semaphore over a semaphore object of Redisson's: a counter that doesn't know which client has
 * which permits. So permits belong to nobody, and those that are lost on the way stay lost.
 *
 * <p>The session asks Redisson for the permits that it wants in requests that wait for a second: a message that
 * Redisson has missed costs no more than that, one that comes just as a request ends costs another. There is at most
 * one request at a time for each number of permits. One whose permits are no longer wanted stands until its second is
 * over, and what it brings goes back to the pool: a cancelled request would stay among those that Redisson notifies of
 * permits one by one, and wouldn't pass the notification on.
 */
public final class RedissonSemaphore implements RemoteSemaphore, Participant {
    private static final Logger log = LoggerFactory.getLogger(RedissonSemaphore.class);

    private static final Duration SLICE = Duration.ofSeconds(1);

    private final ReentrantLock mutex = new ReentrantLock();
    private final RedisSession session;
    private final RSemaphore semaphore;
    private final Recipient recipient;

    @GuardedBy("mutex")
    private int wanted;

    /** By the number of permits. */
    @GuardedBy("mutex")
    private final Map<Integer, Requests> requests = new HashMap<>();

    @GuardedBy("mutex")
    private boolean closed;

    /** Completes when Redisson has answered all that was given back or taken away so far. */
    @GuardedBy("mutex")
    private CompletableFuture<Void> said = CompletableFuture.completedFuture(null);

    /** How many permits the pool had at the last look, plus those added since if that was a debt. */
    @GuardedBy("mutex")
    private long seen;

    /** Creates the remote half over this semaphore object. */
    public RedissonSemaphore(RedisSession session, RSemaphore semaphore, Recipient recipient) {
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
    @GuardedBy("mutex")
    public CompletableFuture<Void> tell(int back, int wants) {
        CompletableFuture<Void> told = back > 0 ? add(back) : CompletableFuture.completedFuture(null);
        wanted = wants;
        ask();
        keepAlive();
        return told;
    }

    @GuardedBy("mutex")
    private void ask() {
        if (wanted > 0 && !closed) {
            requests.computeIfAbsent(wanted, Requests::new).loop.beat(true);
        }
    }

    /** The requests for so many permits. */
    private final class Requests implements CommandLoop.Speaker<Boolean> {
        private final int permits;
        private final CommandLoop<Boolean> loop = new CommandLoop<>(session, mutex, SLICE.toNanos(), this);
        private CompletableFuture<Boolean> latest = new CompletableFuture<>();

        Requests(int permits) {
            this.permits = permits;
        }

        /**
         * Redisson drops the answer to a request if a message comes just as that ends: so one that is silent is
         * cancelled. Redisson gives back permits that come for it nevertheless.
         */
        @Override
        @GuardedBy("mutex")
        public @Nullable CompletableFuture<Boolean> say(long nowNanos) {
            latest.cancel(false);
            if (permits != wanted || closed) {
                return null;
            }
            latest = call(() -> semaphore.tryAcquireAsync(permits, SLICE));
            return unlessCancelled(latest);
        }

        @Override
        @GuardedBy("mutex")
        public void answered(long sentNanos, Boolean acquired) {
            session.outage().heard();
            if (acquired) {
                grant(permits);
            }
            ask();
        }

        @Override
        @GuardedBy("mutex")
        public void failed(Throwable cause) {
            session.outage().failed(loop.sentNanos(), cause);
        }

        @Override
        @GuardedBy("mutex")
        public void refused(Throwable cause) {
            log.warn("Redisson refuses semaphore {}: {}", Names.quoted(name()), Failures.brief(cause));
            recipient.failed(
                    () -> new IllegalStateException("Redisson refuses semaphore " + Names.quoted(name()), cause));
        }

        @Override
        @GuardedBy("mutex")
        public void settled() {
            keepAlive();
        }
    }

    private static <T> CompletableFuture<T> unlessCancelled(CompletableFuture<T> answer) {
        CompletableFuture<T> result = new CompletableFuture<>();
        answer.whenComplete((value, failure) -> {
            if (failure == null) {
                result.complete(value);
            } else if (!answer.isCancelled()) {
                result.completeExceptionally(failure);
            }
        });
        return result;
    }

    // Redisson throws at once if its client is shut down.
    private static <T> CompletableFuture<T> call(Supplier<RFuture<T>> command) {
        try {
            return command.get().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    @GuardedBy("mutex")
    private void grant(int permits) {
        if (wanted == permits) {
            wanted = 0;
            recipient.granted(permits);
        } else {
            add(permits);
        }
    }

    @GuardedBy("mutex")
    private void keepAlive() {
        requests.values().removeIf(request -> !request.loop.isBusy());
        if (wanted > 0 || !requests.isEmpty() || recipient.isWaiting() || !said.isDone()) {
            session.pin(this, this);
        } else {
            session.unpin(this, this);
        }
    }

    @Override
    public void pulse() {
        mutex.lock();
        try {
            List.copyOf(requests.values()).forEach(request -> request.loop.beat(false));
            if (session.outage().isTooLong() && recipient.isWaiting()) {
                Throwable cause = session.outage().cause();
                recipient.failed(() -> new RedisUnavailableException(
                        "Redis has not answered for semaphore " + Names.quoted(name()), cause));
            }
            ask();
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    // ---- giving back

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Void> add(int permits) {
        if (seen < 0) {
            seen += permits;
        }
        CompletableFuture<Void> told = say(
                ReliableCommand.send(
                                session,
                                session.settings().leaseMillis(),
                                failure -> !Failures.isRefused(failure),
                                isFirst -> change(permits))
                        .confirmed(),
                permits);
        if (permits < 0 || seen < 0) {
            // It was sent before the look, so this sees it; an older look is corrected by this one.
            told.whenComplete((done, failure) -> look());
        }
        return told;
    }

    private CompletableFuture<Boolean> change(int permits) {
        return call(() -> permits > 0 ? semaphore.releaseAsync(permits) : semaphore.addPermitsAsync(permits))
                .thenApply(done -> true);
    }

    /**
     * Redisson doesn't say whether a command that it has had no answer to was executed, so only what was refused is
     * repeated.
     */
    @GuardedBy("mutex")
    private CompletableFuture<Void> say(CompletableFuture<?> command, int permits) {
        long sentNanos = session.now();
        CompletableFuture<Void> told = new CompletableFuture<>();
        said = CompletableFuture.allOf(said, told);
        command.whenComplete((done, failure) -> {
            if (failure == null) {
                session.outage().heard();
            } else {
                Throwable cause = Failures.cause(failure);
                session.outage().failed(sentNanos, cause);
                log.warn(
                        "It isn't known whether {} permits were added to semaphore {}: {}",
                        permits,
                        Names.quoted(name()),
                        Failures.brief(cause));
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
    @GuardedBy("mutex")
    public CompletableFuture<Void> confirmed() {
        return said;
    }

    // ---- what is asked once

    @Override
    public CompletableFuture<Integer> take(int permits) {
        CompletableFuture<Integer> taking = new CompletableFuture<>();
        CompletableFuture<Integer> answer =
                call(() -> semaphore.tryAcquireAsync(permits)).thenApply(taken -> taken ? permits : -1);
        hear(answer, taking, taken -> new Booking(Math.max(0, taken), null));
        return taking;
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Integer> drain() {
        CompletableFuture<Integer> draining = new CompletableFuture<>();
        hear(call(semaphore::drainPermitsAsync), draining, taken -> new Booking(Math.max(0, taken), 0L));
        return draining;
    }

    @Override
    @GuardedBy("mutex")
    public CompletableFuture<Integer> available() {
        CompletableFuture<Integer> available = new CompletableFuture<>();
        hear(call(semaphore::availablePermitsAsync), available, pool -> new Booking(0, (long) pool));
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

    /**
     * What an answer says.
     *
     * @param permits how many permits it has brought
     * @param pool how many the pool has, if it says so
     */
    private record Booking(int permits, @Nullable Long pool) {}

    /** Completes the result by the answer; permits that it has brought go back if the result was cancelled. */
    private <T> void hear(CompletableFuture<T> answer, CompletableFuture<T> result, Function<T, Booking> booking) {
        long sentNanos = session.now();
        answer.whenComplete((heard, failure) -> {
            mutex.lock();
            try {
                if (failure == null) {
                    session.outage().heard();
                    Booking booked = booking.apply(heard);
                    if (booked.pool != null) {
                        seen = booked.pool;
                    }
                    if (!result.complete(heard) && booked.permits > 0) {
                        add(booked.permits);
                    }
                    return;
                }
                Throwable cause = Failures.cause(failure);
                if (Failures.isTransient(cause)) {
                    // The thread that waits gives up by its own time-out.
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
    @GuardedBy("mutex")
    public boolean isOverdrawn() {
        return seen < 0;
    }

    @Override
    public @Nullable Renewal keep(long now) {
        return null;
    }

    @Override
    public CompletableFuture<?> close() {
        mutex.lock();
        try {
            closed = true;
            wanted = 0;
            requests.values().forEach(request -> request.latest.cancel(false));
            requests.clear();
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
