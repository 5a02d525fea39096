package dev.interlock.internal.ratelimit;

import static java.util.Objects.requireNonNull;

import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.OutagePolicy;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/**
 * A limiter whose requests scripts decide on. Immutable but for its {@link PrefetchedPermits}, if it takes permits
 * ahead.
 */
final class ScriptRateLimiter implements RateLimiter {
    private static final Script UPDATE = Script.load("ratelimit/update");

    /** A wait without bounds: 285 years, the longest that scripts tell. */
    private static final long FOREVER_MICROS = 1L << 53;

    /** A request that only looks at the state. */
    private static final long NONE = 0;

    /** When a request that is refused without Redis may be made again. */
    private static final long RETRY_MICROS = 1_000_000;

    private final RequestQueues queues;
    private final RedisSession session;
    private final SharedLimit shared;
    private final @Nullable String of;
    private final List<Object> keys;
    private final OutagePolicy policy;
    private final @Nullable PrefetchedPermits prefetched;

    private ScriptRateLimiter(
            RequestQueues queues,
            SharedLimit shared,
            @Nullable String of,
            OutagePolicy policy,
            @Nullable PrefetchedPermits prefetched) {
        this.queues = queues;
        this.session = queues.session;
        this.shared = shared;
        this.of = of;
        this.keys = shared.keys(of);
        this.policy = policy;
        this.prefetched = prefetched;
    }

    static RateLimiter of(RequestQueues queues, SharedLimit shared) {
        return new ScriptRateLimiter(queues, shared, null, OutagePolicy.FAIL, null);
    }

    @Override
    public boolean tryAcquire(long permits) {
        checkPermits(permits);
        if (prefetched != null && prefetched.take(permits, session.now()) != null) {
            session.ensureOpen();
            tellDecided(permits, true);
            return true;
        }
        return awaited(permits, 0).isGranted();
    }

    @Override
    public boolean tryAcquire(long permits, Duration timeout) {
        return decide(permits, timeout).allowed();
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
    public Decision decide(long permits, Duration timeout) {
        Answer answer = awaited(checkPermits(permits), patience(timeout));
        if (answer.isGranted()) {
            sleep(answer.waiting());
        }
        return decision(answer);
    }

    @Override
    public long availablePermits() {
        return decision(awaited(NONE, 0)).remaining();
    }

    @Override
    public CompletableFuture<Boolean> tryAcquireAsync(long permits) {
        return later(permits, 0, Answer::isGranted);
    }

    @Override
    public CompletableFuture<Boolean> tryAcquireAsync(long permits, Duration timeout) {
        return decideAsync(permits, timeout).thenApply(Decision::allowed);
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

    @Override
    public CompletableFuture<Decision> decideAsync(long permits, Duration timeout) {
        return later(permits, patience(timeout), answer -> answer).thenCompose(answer -> {
            Decision decision = decision(answer);
            return answer.isGranted() ? after(answer.waiting(), decision) : completed(decision);
        });
    }

    private static <T> CompletableFuture<T> completed(T value) {
        return CompletableFuture.completedFuture(value);
    }

    /** Sleeps, but not beyond the end of the session. Interrupts are kept for later. */
    private void sleep(Duration wait) {
        if (wait.isZero()) {
            return;
        }
        CompletableFuture<Void> closed = queues.untilClosed();
        RemoteWait.forAnswer(session, closed, wait.toNanos());
        if (closed.isCompletedExceptionally()) {
            session.ensureOpen();
        }
        closed.cancel(false);
    }

    private <T> CompletableFuture<T> after(Duration wait, T value) {
        if (wait.isZero()) {
            return completed(value);
        }
        CompletableFuture<T> closed = queues.untilClosed();
        session.schedule(() -> closed.complete(value), wait.plusNanos(999_999).toMillis());
        return closed.thenApplyAsync(done -> done, session.continuations());
    }

    private Decision decision(Answer answer) {
        return answer.decision(prefetched == null ? 0 : prefetched.left());
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

    /** Asks, and waits for the answer, which may be the policy's. Interrupts are kept for later. */
    private Answer awaited(long permits, long patienceMicros) {
        long begun = session.now();
        CompletableFuture<Answer> asked = ask(permits, patienceMicros);
        session.spinner().awaits(asked);
        Answer answer = session.await(asked);
        if (answer == null && asked.cancel(false)) {
            RedisUnavailableException silence = unavailable(null);
            session.outage().failed(begun, silence);
            return withoutRedis(permits, silence);
        }
        return asked.isCompletedExceptionally()
                ? withoutRedis(permits, Failures.of(asked))
                : told(permits, asked.join());
    }

    /** As {@link #awaited}, without waiting. What follows never runs on a thread of Redisson's or on the timer's. */
    private <T> CompletableFuture<T> later(long permits, long patienceMicros, Function<Answer, T> then) {
        checkPermits(permits);
        CompletableFuture<Answer> asked;
        try {
            asked = ask(permits, patienceMicros);
        } catch (IllegalStateException e) {
            return CompletableFuture.failedFuture(e);
        }
        if (asked.isDone() && !asked.isCompletedExceptionally()) {
            return asked.thenApply(answer -> then.apply(told(permits, answer)));
        }
        return asked.handleAsync(
                (answer, failure) ->
                        then.apply(answer != null ? told(permits, answer) : withoutRedis(permits, failure)),
                session.continuations());
    }

    private CompletableFuture<Answer> ask(long permits, long patienceMicros) {
        if (prefetched == null || permits > prefetched.size || permits == NONE) {
            return queues.ask(keys, shared, permits, 0, patienceMicros);
        }
        session.ensureOpen();
        return fromPrefetched(prefetched, permits, patienceMicros);
    }

    private CompletableFuture<Answer> fromPrefetched(PrefetchedPermits from, long permits, long patienceMicros) {
        CompletableFuture<Answer> here = served(from, permits);
        if (here != null) {
            return here;
        }
        var fetched = new CompletableFuture<Answer>();
        CompletableFuture<Answer> other = from.beginFetch(fetched);
        if (other != null) {
            return other.handle((answer, failure) -> answer != null && answer.isGranted())
                    .thenCompose(isMore -> isMore
                            ? fromPrefetched(from, permits, patienceMicros)
                            : orElseAsked(served(from, permits), permits, patienceMicros));
        }
        CompletableFuture<Answer> own;
        try {
            own = fetch(from, permits, patienceMicros);
        } catch (RuntimeException | Error e) {
            own = CompletableFuture.failedFuture(e);
        }
        return own.whenComplete((answer, failure) -> {
            from.endFetch();
            if (answer != null) {
                fetched.complete(answer);
            } else {
                fetched.completeExceptionally(failure);
            }
        });
    }

    private @Nullable CompletableFuture<Answer> served(PrefetchedPermits from, long permits) {
        Answer origin = from.take(permits, session.now());
        return origin == null
                ? null
                : completed(new Answer(origin.limit(), permits, 0, origin.remaining(), origin.resetMicros(), 0, 0));
    }

    private CompletableFuture<Answer> orElseAsked(
            @Nullable CompletableFuture<Answer> here, long permits, long patienceMicros) {
        return here != null ? here : queues.ask(keys, shared, permits, 0, patienceMicros);
    }

    /** Asks for what is missing here, and for more. */
    private CompletableFuture<Answer> fetch(PrefetchedPermits from, long permits, long patienceMicros) {
        // Another request may have fetched some in the meantime.
        CompletableFuture<Answer> here = served(from, permits);
        if (here != null || permits > shared.latest().burst()) {
            return orElseAsked(here, permits, patienceMicros);
        }
        long rest = from.takeAll(session.now());
        long missing = permits - rest;
        // What is here may be good for nothing any more when it is the turn of a request that waits.
        long patienceNow = rest > 0 ? 0 : patienceMicros;
        return queues.ask(keys, shared, missing, from.size - missing, patienceNow)
                .whenComplete((answer, failure) -> {
                    if (answer != null && answer.isGranted()) {
                        from.put(answer, missing);
                    } else {
                        from.putBack(rest);
                    }
                })
                .thenCompose(answer -> answer.isGranted() || patienceNow == patienceMicros
                        ? completed(answer)
                        : orElseAsked(null, permits, patienceMicros));
    }

    private Answer told(long permits, Answer answer) {
        tellDecided(permits, answer.isGranted());
        return answer;
    }

    private void tellDecided(long permits, boolean granted) {
        if (permits == NONE) {
            return;
        }
        session.settings().listener().decided(shared.name, permits, granted);
    }

    /** Does what the policy says. */
    private Answer withoutRedis(long permits, @Nullable Throwable failure) {
        Throwable cause = failure == null ? null : Failures.cause(failure);
        if (cause instanceof IllegalStateException closed) {
            throw closed;
        }
        session.ensureOpen();
        if (permits != NONE) {
            session.tell(() -> session.settings().listener().decidedWithoutRedis(shared.name, permits, policy));
        }
        return switch (policy) {
            case ADMIT -> Answer.withoutRedis(shared.latest(), permits, 0);
            case REFUSE -> Answer.withoutRedis(shared.latest(), 0, RETRY_MICROS);
            case FAIL -> {
                if (cause instanceof RuntimeException fatal && !Failures.isTransient(cause)) {
                    throw cause instanceof RedisException ? refusal(cause) : fatal;
                }
                throw unavailable(cause);
            }
        };
    }

    private IllegalStateException refusal(Throwable cause) {
        return Failures.refusal("rate limiter " + Names.quoted(shared.name), cause);
    }

    private RedisUnavailableException unavailable(@Nullable Throwable cause) {
        return new RedisUnavailableException(
                "Redis didn't decide on rate limiter " + Names.quoted(shared.name) + " within "
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
            throw new IllegalStateException("this limiter of " + Names.quoted(shared.name)
                    + " is for a key already; ask forKey(...) of the one without a key");
        } else if (prefetched != null) {
            throw new IllegalStateException(
                    "this limiter of " + Names.quoted(shared.name) + " takes permits ahead for itself; ask forKey(...)"
                            + " first and then prefetch(...), and keep the result");
        }
        return new ScriptRateLimiter(queues, shared, user, policy, null);
    }

    @Override
    public RateLimiter prefetch(long n) {
        if (n < 1 || n > RateLimit.MOST_PERMITS) {
            throw new IllegalArgumentException("n must be from 1 to " + RateLimit.MOST_PERMITS + ", but is " + n);
        }
        return new ScriptRateLimiter(queues, shared, of, policy, n == 1 ? null : new PrefetchedPermits(n));
    }

    @Override
    public RateLimiter whenUnavailable(OutagePolicy other) {
        return new ScriptRateLimiter(queues, shared, of, requireNonNull(other, "policy"), prefetched);
    }

    @Override
    public void update(RateLimit limit) {
        requireNonNull(limit, "limit");
        session.ensureOpen();
        String text = SharedLimit.text(limit);
        List<String> updated = shared.updatedKeys();
        CompletableFuture<Boolean> done = set(updated.get(0), text, 0)
                .thenCompose(version -> CompletableFuture.allOf(updated.stream()
                        .skip(1)
                        .map(key -> set(key, text, version))
                        .toArray(CompletableFuture<?>[]::new)))
                .thenApply(all -> true);
        if (session.await(done) == null) {
            Throwable cause =
                    done.isCompletedExceptionally() ? Failures.of(done) : new RedisTimeoutException("no answer");
            throw Failures.isTransient(cause) ? unavailable(cause) : refusal(cause);
        }
        shared.update(text);
    }

    /** Sets the limit at a key, unless a later version is set there. Returns the version: 0 draws one. */
    private CompletableFuture<Long> set(String key, String text, long version) {
        return session.runner()
                .runDurably(UPDATE.on(List.of(key), text, version))
                .thenApply(reply -> (Long) reply.get(0));
    }

    @Override
    public RateLimit limit() {
        return shared.latest();
    }

    @Override
    public String toString() {
        return "rate limiter " + Names.quoted(shared.name) + (of == null ? "" : " for " + Names.quoted(of)) + ", "
                + shared.latest();
    }
}
