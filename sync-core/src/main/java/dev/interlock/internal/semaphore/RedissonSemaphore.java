package dev.interlock.internal.semaphore;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.Insistence;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RFuture;
import org.redisson.api.RSemaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The remote half of a semaphore over a semaphore object of Redisson's: a counter, of which nobody knows whose permits
 * are missing. So they belong to nobody, and what was lost on its way stays lost.
 *
 * <p>What the session wants it asks Redisson for in slices of a second: a message that Redisson has missed costs no
 * more than that, one that comes just when a slice is over costs another. There is at most one request at a time for so
 * many permits. One that is no longer wanted stands until its slice is over, and what it brings goes back to the pool:
 * for a cancelled one would remain among those that Redisson tells of permits, one by one, and it wouldn't pass the
 * news on.
 */
public final class RedissonSemaphore implements RemoteSemaphore, Participant {
    private static final Logger log = LoggerFactory.getLogger(RedissonSemaphore.class);

    private static final Duration SLICE = Duration.ofSeconds(1);
    private static final Duration SILENCE = SLICE.multipliedBy(2);
    private static final long RETRY_MILLIS = 200;

    private final ReentrantLock mutex = new ReentrantLock();
    private final RedisSession session;
    private final RSemaphore semaphore;
    private final Recipient recipient;

    private int wanted;

    /** The requests that Redisson has not answered yet, by the number of permits. */
    private final Map<Integer, Request> requests = new HashMap<>();

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
        final CompletableFuture<Boolean> answer;

        Request(int permits, long sentNanos, CompletableFuture<Boolean> answer) {
            this.permits = permits;
            this.sentNanos = sentNanos;
            this.answer = answer;
        }
    }

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
    public CompletableFuture<Void> tell(int back, int wants) {
        CompletableFuture<Void> told = back > 0 ? add(back) : CompletableFuture.completedFuture(null);
        wanted = wants;
        ask();
        keepAlive();
        return told;
    }

    private void ask() {
        if (wanted == 0 || closed || requests.containsKey(wanted)) {
            return;
        }
        int permits = wanted;
        Request next = new Request(permits, session.now(), call(() -> semaphore.tryAcquireAsync(permits, SLICE)));
        requests.put(permits, next);
        next.answer.whenComplete((acquired, failure) -> received(next, acquired, failure));
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
            boolean isOutstanding = requests.remove(of.permits, of);
            if (failure == null) {
                session.outage().heard();
                stalled = false;
                if (Boolean.TRUE.equals(acquired)) {
                    grant(of.permits);
                }
                ask();
            } else if (isOutstanding) {
                failed(of.sentNanos, Failures.cause(failure));
            }
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    private void grant(int permits) {
        if (wanted == permits) {
            wanted = 0;
            recipient.granted(permits);
        } else {
            add(permits);
        }
    }

    private void failed(long sentNanos, Throwable failure) {
        if (Failures.isTransient(failure)) {
            session.outage().failed(sentNanos, failure);
            session.schedule(this::askAgain, RETRY_MILLIS);
        } else {
            log.warn("Redisson refuses semaphore {}: {}", Keys.quoted(name()), Failures.brief(failure));
            recipient.failed(
                    () -> new IllegalStateException("Redisson refuses semaphore " + Keys.quoted(name()), failure));
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
            List<Request> silent = requests.values().stream()
                    .filter(request -> session.now() - request.sentNanos >= SILENCE.toNanos())
                    .toList();
            // Redisson owes an answer after the slice, but forgets it if a message comes just then.
            silent.forEach(this::cancel);
            if (!silent.isEmpty()) {
                if (stalled) {
                    failed(silent.get(0).sentNanos, new RedisUnavailableException("no answer", null));
                }
                stalled = true;
            }
            if (session.outage().isTooLong() && recipient.isWaiting()) {
                Throwable cause = session.outage().cause();
                recipient.failed(() -> new RedisUnavailableException(
                        "Redis has not answered for semaphore " + Keys.quoted(name()), cause));
            }
            ask();
            keepAlive();
        } finally {
            mutex.unlock();
        }
    }

    // Redisson gives back what comes for it nevertheless.
    private void cancel(Request request) {
        requests.remove(request.permits, request);
        request.answer.cancel(false);
    }

    // ---- giving back

    @Override
    public CompletableFuture<Void> add(int permits) {
        if (seen < 0) {
            seen += permits;
        }
        CompletableFuture<Void> told = say(
                Insistence.on(
                        session,
                        session.settings().leaseMillis(),
                        () -> call(() ->
                                permits > 0 ? semaphore.releaseAsync(permits) : semaphore.addPermitsAsync(permits)),
                        Failures::isRefused),
                permits);
        if (permits < 0 || seen < 0) {
            // Redis has it before this is asked: it was sent before, and an older answer is corrected by this one.
            told.whenComplete((done, failure) -> look());
        }
        return told;
    }

    /**
     * Redisson doesn't say whether a command that it has had no answer to was executed, so only what was refused is
     * repeated.
     */
    private CompletableFuture<Void> say(CompletableFuture<Void> command, int permits) {
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
                        Keys.quoted(name()),
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
                Throwable cause = Failures.cause(failure);
                if (Failures.isTransient(cause)) {
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
    public void receive(Mail mail) {
        throw new IllegalStateException("no script of ours runs for " + Keys.quoted(name()) + ", yet there is " + mail);
    }

    @Override
    public CompletableFuture<?> close() {
        mutex.lock();
        try {
            closed = true;
            wanted = 0;
            List.copyOf(requests.values()).forEach(this::cancel);
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
