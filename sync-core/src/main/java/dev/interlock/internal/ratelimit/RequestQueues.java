package dev.interlock.internal.ratelimit;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a session's threads to all rate limiters. Only keys that had requests in the last seconds take any
 * room, however many there are.
 */
public final class RequestQueues implements Participant {
    /** During an outage one request is sent this often, to see whether the outage is over. */
    private static final long TRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** What it is pinned under, which is no key of a name. */
    private record AllLimits() {}

    final RedisSession session;

    private final ConcurrentMap<List<Object>, RequestQueue> queues = new ConcurrentHashMap<>();
    private final AtomicLong nextTryNanos;

    /** The waits for reserved permits. */
    private final ConcurrentMap<Long, CompletableFuture<?>> waits = new ConcurrentHashMap<>();

    /** Creates the queues of a session, all of them empty. */
    public RequestQueues(RedisSession session) {
        this.session = session;
        this.nextTryNanos = new AtomicLong(session.now());
        session.pin(new AllLimits(), this);
    }

    /** Returns a limiter. */
    public RateLimiter limiter(String name, RateLimit limit) {
        return ScriptRateLimiter.of(this, new SharedLimit(name, session.key(name), limit));
    }

    /**
     * Has Redis decide on a request. The result fails by what Redis failed with; during an outage it fails at once,
     * except for the request that tries whether the outage is over.
     */
    CompletableFuture<Answer> ask(List<Object> keys, SharedLimit limit, long permits, long more, long patienceMicros) {
        session.ensureOpen();
        var answer = new CompletableFuture<Answer>();
        if (session.outage().isOfTheMaster() && !isToTry()) {
            answer.completeExceptionally(new RedisUnavailableException(
                    "Redis doesn't answer", session.outage().cause()));
            return answer;
        }
        Request request = new Request(limit, permits, more, patienceMicros, answer);
        RequestQueue queue = queues.computeIfAbsent(keys, this::queue);
        while (!queue.add(request)) {
            queues.remove(keys, queue);
            queue = queues.computeIfAbsent(keys, this::queue);
        }
        if (session.isClosed()) {
            close();
        }
        return answer;
    }

    /**
     * Returns a future that fails when the session is closed. The caller completes it when it is of no use any more.
     */
    <T> CompletableFuture<T> untilClosed() {
        var wait = new CompletableFuture<T>();
        long number = session.nextSequence();
        waits.put(number, wait);
        wait.whenComplete((done, failure) -> waits.remove(number));
        if (session.isClosed()) {
            close();
        }
        return wait;
    }

    private boolean isToTry() {
        long now = session.now();
        long next = nextTryNanos.get();
        long pause = Math.max(
                TRY_NANOS, TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis()));
        return now - next >= 0 && nextTryNanos.compareAndSet(next, now + pause);
    }

    private RequestQueue queue(List<Object> keys) {
        return new RequestQueue(session, keys, ended -> queues.remove(keys, ended));
    }

    @Override
    public void pulse() {
        queues.values().forEach(RequestQueue::pulse);
    }

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        return null;
    }

    @Override
    public void receive(Mail mail) {
        // Nothing is announced about rate limits: who waits for permits knows until when.
    }

    @Override
    public CompletableFuture<?> close() {
        queues.values().forEach(RequestQueue::close);
        queues.clear();
        waits.values()
                .forEach(wait ->
                        wait.completeExceptionally(new IllegalStateException("the Interlock session is closed")));
        return CompletableFuture.completedFuture(null);
    }
}
