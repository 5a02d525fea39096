package dev.interlock.benchmarks.contestants;

import dev.interlock.Interlock;
import dev.interlock.benchmarks.peers.Bucket4j;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;

/**
 * A bucket from which threads take one token after the other. It is so large that it is never empty, and filled so
 * slowly that it is never full again: a limiter that has forgotten what was taken would be found. An operation is a
 * token. When a thread ends, at least as many must be missing as were taken in this round, but for what has come
 * meanwhile.
 */
final class Tap implements Contestant.Work {

    private static final long TOKENS = 1_000_000_000;
    private static final long TOKENS_PER_SECOND = 1_000;
    private static final Duration SECOND = Duration.ofSeconds(1);

    /** After which Redisson's tokens come back: so soon that they do in most of a round, as they would in service. */
    private static final Duration INTERVAL = Duration.ofMillis(20);

    private final BooleanSupplier take;
    private final @Nullable LongSupplier left;
    private final LongAdder taken = new LongAdder();
    private final long leftAtFirst;
    private final long startNanos;

    /**
     * A bucket for one round.
     *
     * @param take takes a token, and says whether there was one
     * @param left how many there are; null if nobody can say
     */
    Tap(BooleanSupplier take, @Nullable LongSupplier left) {
        this.take = take;
        this.left = left;
        this.startNanos = System.nanoTime();
        this.leftAtFirst = left == null ? 0 : left.getAsLong();
    }

    /**
     * Ours.
     *
     * @param ahead how many tokens it takes at a time
     */
    static Contestant ofOurs(long ahead) {
        RateLimit limit = RateLimit.tokenBucket(TOKENS_PER_SECOND, SECOND).withBurst(TOKENS);
        return Contestant.working(
                Interlock::connect,
                (session, name) -> {
                    RateLimiter limiter = session.rateLimiter(name, limit);
                    return new Tap(
                            limiter.prefetch(ahead)::tryAcquire,
                            () -> limiter.decide(1).remaining());
                },
                Interlock::close);
    }

    /**
     * Redisson's, which has no bucket: what is taken comes back after the interval, and until then each has its entry
     * in a sorted set.
     */
    static Contestant ofRedisson(Function<String, RedissonClient> connect) {
        return Contestant.working(
                connect,
                (redis, name) -> {
                    RRateLimiter limiter = redis.getRateLimiter(name);
                    limiter.trySetRate(RateType.OVERALL, TOKENS, INTERVAL);
                    return new Tap(limiter::tryAcquire, null);
                },
                RedissonClient::shutdown);
    }

    /** Bucket4j's on Redisson. */
    static Contestant ofBucket4j(Function<String, RedissonClient> connect) {
        return Contestant.working(
                connect,
                (redis, name) -> {
                    Bucket bucket = Bucket4j.bucket(redis, name, TOKENS, TOKENS_PER_SECOND, SECOND);
                    return new Tap(() -> bucket.tryConsume(1), bucket::getAvailableTokens);
                },
                RedissonClient::shutdown);
    }

    @Override
    public boolean once(Ledger ledger) {
        if (!take.getAsBoolean()) {
            return false;
        }
        taken.increment();
        return true;
    }

    @Override
    public void end() {
        if (left == null) {
            return;
        }
        long known = taken.sum(); // those of others, who take more meanwhile, at least in part
        long leftAtLast = left.getAsLong();
        long nanos = System.nanoTime() - startNanos;
        // The clock of Redis may run a little faster.
        long come = 1 + (nanos + nanos / 100) * TOKENS_PER_SECOND / TimeUnit.SECONDS.toNanos(1);
        if (leftAtLast > leftAtFirst - known + come) {
            throw new IllegalStateException(known + " tokens were taken of " + leftAtFirst + " and some " + come
                    + " that came, but " + leftAtLast + " are left");
        }
    }
}
