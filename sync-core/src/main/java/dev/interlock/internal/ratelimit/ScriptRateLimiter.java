package dev.interlock.internal.ratelimit;

import static java.util.Objects.requireNonNull;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.OutagePolicy;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;

/**
 * A limiter whose requests scripts decide on. Holds nothing that changes but its {@link Stock}, if it takes permits
 * ahead.
 */
final class ScriptRateLimiter implements RateLimiter {
    private static final Script UPDATE = Script.load("ratelimit/update");

    /** A wait without bounds: 285 years, the longest that scripts tell. */
    private static final long FOREVER_MICROS = 1L << 53;

    /**
     * Not the pool itself: if that has one thread only, as on two cores, CompletableFuture starts a thread for each
     * task instead.
     */
    private static final Executor POOL = task -> ForkJoinPool.commonPool().execute(task);

    /** What somebody who is refused without Redis may wait before he tries again. */
    private static final long RETRY_MICROS = 1_000_000;

    private final Lines lines;
    private final RedisSession session;
    private final Terms terms;
    private final @Nullable String of;
    private final String key;
    private final OutagePolicy policy;
    private final @Nullable Stock stock;

    private ScriptRateLimiter(
            Lines lines, Terms terms, @Nullable String of, OutagePolicy policy, @Nullable Stock stock) {
        this.lines = lines;
        this.session = lines.session;
        this.terms = terms;
        this.of = of;
        this.key = of == null ? terms.stateKey() : terms.stateKey(of);
        this.policy = policy;
        this.stock = stock;
    }

    static RateLimiter of(Lines lines, Terms terms) {
        return new ScriptRateLimiter(lines, terms, null, OutagePolicy.FAIL, null);
    }

    @Override
    public boolean tryAcquire(long permits) {
        checkPermits(permits);
        if (stock != null && stock.take(permits, session.now()) != null) {
            session.ensureOpen();
            return true;
        }
        return awaited(permits, 0).isGranted();
    }

    @Override
    public boolean tryAcquire(long permits, Duration timeout) {
        Answer answer = awaited(checkPermits(permits), patience(timeout));
        if (answer.isGranted()) {
            sleep(answer.waiting());
        }
        return answer.isGranted();
    }

    @Override
    public Duration acquire(long permits) {
        Duration wait = reserved(permits, awaited(checkPermits(permits), FOREVER_MICROS));
        sleep(wait);
        return wait;
    }

    @Override
    public Decision decide(long permits) {
        return decision(awaited(checkPermits(permits), 0));
    }

    @Override
    public CompletableFuture<Boolean> tryAcquireAsync(long permits) {
        return later(permits, 0, Answer::isGranted);
    }

    @Override
    public CompletableFuture<Boolean> tryAcquireAsync(long permits, Duration timeout) {
        return later(permits, patience(timeout), answer -> answer)
                .thenCompose(answer -> answer.isGranted() ? after(answer.waiting(), true) : completed(false));
    }

    @Override
    public CompletableFuture<Duration> acquireAsync(long permits) {
        return later(permits, FOREVER_MICROS, answer -> reserved(permits, answer))
                .thenCompose(wait -> after(wait, wait));
    }

    @Override
    public CompletableFuture<Decision> decideAsync(long permits) {
        return later(permits, 0, this::decision);
    }

    private static <T> CompletableFuture<T> completed(T value) {
        return CompletableFuture.completedFuture(value);
    }

    /** Sleeps, but not beyond the end of the session. */
    private void sleep(Duration wait) {
        if (wait.isZero()) {
            return;
        }
        CompletableFuture<Void> closed = lines.untilClosed();
        try {
            Uninterruptibles.getUninterruptibly(closed, wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            session.ensureOpen();
        } catch (TimeoutException e) {
            closed.cancel(false);
        }
    }

    private <T> CompletableFuture<T> after(Duration wait, T value) {
        if (wait.isZero()) {
            return completed(value);
        }
        CompletableFuture<T> closed = lines.untilClosed();
        return closed.completeOnTimeout(value, wait.toNanos(), TimeUnit.NANOSECONDS)
                .thenApplyAsync(done -> done, POOL);
    }

    private Decision decision(Answer answer) {
        return answer.decision(stock == null ? 0 : stock.left());
    }

    private Duration reserved(long permits, Answer answer) {
        if (answer.waitMicros() < 0) {
            throw new IllegalArgumentException("permits must be from 1 to "
                    + answer.limit().burst() + ", the most that " + answer.limit() + " has at once, but is " + permits);
        } else if (!answer.isGranted()) {
            throw unavailable(null);
        }
        return answer.waiting();
    }

    private static long checkPermits(long permits) {
        if (permits < 1 || permits > RateLimit.MOST_PERMITS) {
            throw new IllegalArgumentException(
                    "permits must be from 1 to " + RateLimit.MOST_PERMITS + ", but is " + permits);
        }
        return permits;
    }

    private static long patience(Duration timeout) {
        requireNonNull(timeout, "timeout");
        if (timeout.isNegative()) {
            return 0;
        }
        long mostSeconds = TimeUnit.MICROSECONDS.toSeconds(FOREVER_MICROS);
        return timeout.toSeconds() >= mostSeconds ? FOREVER_MICROS : timeout.toNanos() / 1_000;
    }

    /** Asks, and waits for the answer, which may be the policy's. */
    private Answer awaited(long permits, long patienceMicros) {
        long begun = session.now();
        CompletableFuture<Answer> asked = ask(permits, patienceMicros);
        session.spinner().awaits(asked);
        try {
            return requireNonNull(Uninterruptibles.getUninterruptibly(
                    asked, session.settings().commandTimeoutMillis(), TimeUnit.MILLISECONDS));
        } catch (ExecutionException e) {
            return withoutRedis(permits, e.getCause());
        } catch (TimeoutException e) {
            asked.cancel(false);
            RedisUnavailableException silence = unavailable(null);
            session.outage().failed(begun, silence);
            return withoutRedis(permits, silence);
        }
    }

    /** As {@link #awaited}, but whoever needs the answer waits for it; not on a thread of Redisson's. */
    private <T> CompletableFuture<T> later(long permits, long patienceMicros, Function<Answer, T> then) {
        checkPermits(permits);
        CompletableFuture<Answer> asked;
        try {
            asked = ask(permits, patienceMicros);
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
        if (asked.isDone() && !asked.isCompletedExceptionally()) {
            return asked.thenApply(then);
        }
        return asked.handleAsync(
                (answer, failure) -> then.apply(answer != null ? answer : withoutRedis(permits, failure)), POOL);
    }

    private CompletableFuture<Answer> ask(long permits, long patienceMicros) {
        if (stock == null || permits > stock.size) {
            return lines.ask(key, terms, permits, 0, patienceMicros);
        }
        session.ensureOpen();
        return fromStock(stock, permits, patienceMicros);
    }

    private CompletableFuture<Answer> fromStock(Stock from, long permits, long patienceMicros) {
        Answer origin = from.take(permits, session.now());
        if (origin != null) {
            return completed(new Answer(origin.limit(), permits, 0, origin.remaining(), origin.resetMicros(), 0, 0));
        }
        var fetched = new CompletableFuture<Answer>();
        CompletableFuture<Answer> other = from.fetch(fetched);
        if (other != null) {
            return other.handle((answer, failure) -> answer != null && answer.isGranted()
                            ? fromStock(from, permits, patienceMicros)
                            : lines.ask(key, terms, permits, 0, patienceMicros))
                    .thenCompose(asked -> asked);
        }
        CompletableFuture<Answer> own;
        try {
            own = lines.ask(key, terms, permits, from.size - permits, patienceMicros);
        } catch (RuntimeException | Error e) {
            from.fetched();
            fetched.completeExceptionally(e);
            throw e;
        }
        return own.whenComplete((answer, failure) -> {
            if (answer != null) {
                from.put(answer, permits);
                from.fetched();
                fetched.complete(answer);
            } else {
                from.fetched();
                fetched.completeExceptionally(failure);
            }
        });
    }

    /** Does what the policy says. */
    private Answer withoutRedis(long permits, @Nullable Throwable failure) {
        Throwable cause = failure == null ? null : Failures.cause(failure);
        if (cause instanceof IllegalStateException closed) {
            throw closed;
        }
        session.ensureOpen();
        session.tell(() -> session.settings().listener().decidedWithoutRedis(terms.name, permits, policy));
        return switch (policy) {
            case ADMIT -> Answer.withoutRedis(terms.latest(), permits, 0);
            case REFUSE -> Answer.withoutRedis(terms.latest(), 0, RETRY_MICROS);
            case FAIL -> {
                if (cause instanceof RuntimeException fatal && !Failures.isTransient(cause)) {
                    throw cause instanceof RedisException
                            ? Failures.refusal("rate limiter " + Keys.quoted(terms.name), cause)
                            : fatal;
                }
                throw unavailable(cause);
            }
        };
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException(
                "Redis didn't decide on rate limiter " + Keys.quoted(terms.name) + " within "
                        + session.settings().commandTimeoutMillis() + " ms",
                cause);
    }

    @Override
    public RateLimiter forKey(String user) {
        requireNonNull(user, "key");
        if (user.isBlank()) {
            throw new IllegalArgumentException("key must not be blank");
        }
        Keys.checkText("key", user);
        if (of != null) {
            throw new IllegalStateException("this limiter is for a key already");
        } else if (stock != null) {
            throw new IllegalStateException(
                    "this limiter takes permits ahead for itself; ask forKey(...) first and then prefetch(...), and keep the result");
        }
        return new ScriptRateLimiter(lines, terms, user, policy, null);
    }

    @Override
    public RateLimiter prefetch(long n) {
        if (n < 1 || n > RateLimit.MOST_PERMITS) {
            throw new IllegalArgumentException("n must be from 1 to " + RateLimit.MOST_PERMITS + ", but is " + n);
        }
        return new ScriptRateLimiter(lines, terms, of, policy, n == 1 ? null : new Stock(n));
    }

    @Override
    public RateLimiter whenUnavailable(OutagePolicy other) {
        return new ScriptRateLimiter(lines, terms, of, requireNonNull(other, "policy"), stock);
    }

    @Override
    public void update(RateLimit limit) {
        requireNonNull(limit, "limit");
        session.ensureOpen();
        String text = Terms.text(limit);
        try {
            Uninterruptibles.getUninterruptibly(
                    session.runner().runDurably(UPDATE.on(List.of(terms.updatedKey()), text)),
                    session.settings().commandTimeoutMillis(),
                    TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw unavailable(e.getCause());
        } catch (TimeoutException e) {
            throw unavailable(e);
        }
        terms.heard(text);
    }

    @Override
    public RateLimit limit() {
        return terms.latest();
    }

    @Override
    public String toString() {
        return "rate limiter " + Keys.quoted(terms.name) + (of == null ? "" : " for " + Keys.quoted(of)) + ", "
                + terms.latest();
    }
}
