package dev.interlock.internal.ratelimit;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Mail;
import dev.interlock.internal.session.Participant;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What a session's threads ask of all rate limiters. Only keys that were asked of in the last seconds take any room,
 * however many there are.
 */
public final class Lines implements Participant {
    private static final long TRY_NANOS = TimeUnit.SECONDS.toNanos(1);

    final RedisSession session;

    private final ConcurrentMap<String, Line> lines = new ConcurrentHashMap<>();
    private final AtomicLong nextTryNanos;

    /** The waits for permits that are reserved. */
    private final ConcurrentMap<Object, CompletableFuture<?>> waits = new ConcurrentHashMap<>();

    /** Opens the lines of a session. */
    public Lines(RedisSession session) {
        this.session = session;
        this.nextTryNanos = new AtomicLong(session.now());
        session.pin(this, this);
    }

    /** Returns a limiter. */
    public RateLimiter limiter(String name, RateLimit limit) {
        return ScriptRateLimiter.of(this, new Terms(name, session.key(name), limit));
    }

    /**
     * Has Redis decide on a request. The result fails by what Redis failed with; and at once during an outage, unless
     * this is the one that tries whether that is over.
     */
    CompletableFuture<Answer> ask(String key, Terms terms, long permits, long more, long patienceMicros) {
        session.ensureOpen();
        var answer = new CompletableFuture<Answer>();
        if (session.outage().isOfTheMaster() && !isToTry()) {
            answer.completeExceptionally(new RedisUnavailableException(
                    "Redis doesn't answer", session.outage().cause()));
            return answer;
        }
        Request request = new Request(terms, permits, more, patienceMicros, answer);
        while (!lines.computeIfAbsent(key, this::line).add(request)) {
            Thread.onSpinWait();
        }
        if (session.isClosed()) {
            close();
        }
        return answer;
    }

    /** Returns what fails when the session is closed. It has to be completed when it is of no use any more. */
    <T> CompletableFuture<T> untilClosed() {
        var wait = new CompletableFuture<T>();
        Object key = new Object();
        waits.put(key, wait);
        wait.whenComplete((done, failure) -> waits.remove(key));
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

    private Line line(String key) {
        return new Line(session, key, () -> lines.remove(key));
    }

    @Override
    public void pulse() {
        lines.values().forEach(Line::pulse);
    }

    @Override
    public @Nullable Renewal keep(long nowNanos) {
        return null;
    }

    @Override
    public void receive(Mail mail) {}

    @Override
    public CompletableFuture<?> close() {
        lines.values().forEach(Line::close);
        lines.clear();
        waits.values()
                .forEach(wait ->
                        wait.completeExceptionally(new IllegalStateException("the Interlock session is closed")));
        return CompletableFuture.completedFuture(null);
    }
}
