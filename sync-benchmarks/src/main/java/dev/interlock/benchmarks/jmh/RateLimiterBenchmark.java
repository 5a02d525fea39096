package dev.interlock.benchmarks.jmh;

import com.google.common.util.concurrent.RateLimiter;
import dev.interlock.benchmarks.peers.Bucket4j;
import dev.interlock.ratelimit.RateLimit;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;

/**
 * A rate limiter that never refuses: an operation is a permit, and one that is refused fails the trial.
 *
 * <p>What it doesn't say: what a limiter does at its limit, and whether it counts right, which the Scoreboard looks at.
 * Redisson keeps an entry for each permit until its interval is over, and is set so that they come back while it runs,
 * as they do in service. Guava's is one of a single JVM.
 */
@State(Scope.Benchmark)
@Warmup(iterations = 2, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class RateLimiterBenchmark {

    private static final long MANY = RateLimit.MOST_PERMITS;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration REDISSONS_INTERVAL = Duration.ofMillis(20);
    private static final long REFILL = 1_000;
    private static final int AHEAD = 1_000;

    /**
     * Our token bucket, windows of ours, our token bucket with 1,000 permits taken ahead; Redisson's; Bucket4j's;
     * Guava's.
     */
    @Param({"Interlock", "Interlock-fixed", "Interlock-sliding", "Interlock-prefetch", "Redisson", "Bucket4j", "Guava"})
    public String impl;

    private BooleanSupplier limiter;

    /** Makes the limiter. */
    @Setup
    public void open(Arena arena) {
        arena.requireNoSection();
        limiter = switch (impl) {
            case "Interlock-fixed" -> ours(arena, RateLimit.fixedWindow(MANY, SECOND))::tryAcquire;
            case "Interlock-sliding" -> ours(arena, RateLimit.slidingWindow(MANY, SECOND))::tryAcquire;
            case "Interlock" -> ours(arena, bucket())::tryAcquire;
            case "Interlock-prefetch" -> ours(arena, bucket()).prefetch(AHEAD)::tryAcquire;
            case "Redisson" -> redissons(arena)::tryAcquire;
            case "Bucket4j" -> bucket4j(arena);
            case "Guava" -> arena.local(RateLimiter.create(MANY))::tryAcquire;
            default -> throw new IllegalArgumentException("there is no impl=" + impl);
        };
    }

    private static dev.interlock.ratelimit.RateLimiter ours(Arena arena, RateLimit limit) {
        return arena.session().rateLimiter(arena.name(), limit);
    }

    private static RateLimit bucket() {
        return RateLimit.tokenBucket(REFILL, SECOND).withBurst(MANY);
    }

    private static RRateLimiter redissons(Arena arena) {
        RRateLimiter limiter = arena.redisson().getRateLimiter(arena.name());
        limiter.trySetRate(RateType.OVERALL, MANY, REDISSONS_INTERVAL);
        return limiter;
    }

    private static BooleanSupplier bucket4j(Arena arena) {
        Bucket bucket = Bucket4j.bucket(arena.redisson(), arena.name(), MANY, REFILL, SECOND);
        return () -> bucket.tryConsume(1);
    }

    /** One thread, and nobody else unless there are other JVMs. */
    @Benchmark
    @BenchmarkMode(Mode.SampleTime)
    @Warmup(iterations = 5, time = 1)
    @OutputTimeUnit(TimeUnit.MICROSECONDS)
    @Threads(1)
    public void single() {
        acquire();
    }

    /** Eight threads. */
    @Benchmark
    @BenchmarkMode(Mode.Throughput)
    @OutputTimeUnit(TimeUnit.MILLISECONDS)
    @Threads(8)
    public void shared() {
        acquire();
    }

    private void acquire() {
        if (!limiter.getAsBoolean()) {
            throw new IllegalStateException("a limiter with room for " + MANY + " permits has refused one");
        }
    }
}
