package dev.interlock.benchmarks;

import dev.interlock.Interlock;
import dev.interlock.benchmarks.peers.Bucket4j;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.RedisServer;
import io.github.bucket4j.Bucket;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.redisson.Redisson;
import org.redisson.api.RRateLimiter;
import org.redisson.api.RateType;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Prints a {@code BYTES} line per limiter: what Redis keeps for one key of a limit of 1,000 permits in a minute, names
 * included.
 */
public final class Footprint {

    private static final int PERMITS = 1_000;
    private static final int JVMS = 10;
    private static final String KEY = ":user-1";
    private static final Duration LONG = Duration.ofMinutes(1);
    private static final Duration SHORT = Duration.ofSeconds(1);

    /** A limiter. */
    @FunctionalInterface
    private interface Subject {

        /** Returns what takes a permit of a key. */
        Supplier<CompletionStage<Boolean>> taker(Interlock session, String name, Duration window);
    }

    private final RedisServer server;
    private final RedissonClient redis;
    private final List<Interlock> sessions;

    private Footprint(RedisServer server) {
        this.server = server;
        var config = new Config();
        config.useSingleServer().setAddress(server.url());
        this.redis = Redisson.create(config);
        this.sessions =
                Stream.generate(() -> Interlock.using(redis)).limit(JVMS).toList();
    }

    /** Measures and prints. */
    public static void main(String[] args) {
        var footprint = new Footprint(RedisServer.provided());
        try {
            footprint.print("fixed-window", ours(window -> RateLimit.fixedWindow(PERMITS, window)));
            footprint.print("sliding-window", ours(window -> RateLimit.slidingWindow(PERMITS, window)));
            footprint.print("token-bucket", ours(window -> RateLimit.tokenBucket(PERMITS, window)));
            footprint.print("RRateLimiter", footprint::redissons);
            footprint.print("Bucket4j", footprint::bucket4js);
        } finally {
            footprint.sessions.forEach(Interlock::close);
            footprint.redis.shutdown();
        }
    }

    private static Subject ours(Function<Duration, RateLimit> limit) {
        return (session, name, window) -> {
            RateLimiter limiter = session.rateLimiter(name, limit.apply(window)).forKey(KEY.substring(1));
            return () -> limiter.tryAcquireAsync(1);
        };
    }

    private Supplier<CompletionStage<Boolean>> redissons(Interlock session, String name, Duration window) {
        RRateLimiter limiter = redis.getRateLimiter(name + KEY);
        limiter.trySetRate(RateType.OVERALL, PERMITS, window);
        return limiter::tryAcquireAsync;
    }

    private Supplier<CompletionStage<Boolean>> bucket4js(Interlock session, String name, Duration window) {
        Bucket bucket = Bucket4j.bucket(redis, name + KEY, PERMITS, PERMITS, window);
        return () -> CompletableFuture.completedFuture(bucket.tryConsume(1));
    }

    private void print(String title, Subject subject) {
        String name = newName();
        takeOneByOne(subject.taker(sessions.get(0), name, LONG), 1);
        int keys = keys(name).size();
        long one = bytes(name);
        takeOneByOne(subject.taker(sessions.get(0), name, LONG), PERMITS - 1);
        long all = bytes(name);

        String crowded = newName();
        var crowd = subject.taker(sessions.get(0), crowded, LONG);
        check(IntStream.range(0, PERMITS).mapToObj(i -> crowd.get()).toList());
        long atOnce = bytes(crowded);

        String shared = newName();
        sessions.forEach(session -> takeOneByOne(subject.taker(session, shared, LONG), PERMITS / JVMS));
        long byJvms = bytes(shared);

        String brief = newName();
        takeOneByOne(subject.taker(sessions.get(0), brief, SHORT), 1);
        LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(3));
        System.out.printf(
                Locale.ROOT,
                "BYTES %s keys=%d one=%d all=%d all-at-once=%d all-by-%d-jvms=%d after-the-window=%d%n",
                title,
                keys,
                one,
                all,
                atOnce,
                JVMS,
                byJvms,
                bytes(brief));
    }

    private static void takeOneByOne(Supplier<CompletionStage<Boolean>> taker, int times) {
        for (int i = 0; i < times; i++) {
            check(List.of(taker.get()));
        }
    }

    private static void check(List<CompletionStage<Boolean>> taken) {
        if (!taken.stream().allMatch(one -> one.toCompletableFuture().join())) {
            throw new IllegalStateException("refused, although there were permits");
        }
    }

    private static String newName() {
        return "footprint-" + UUID.randomUUID().toString().substring(0, 8);
    }

    private Set<String> keys(String name) {
        return server.keys("*" + name + "*");
    }

    private long bytes(String name) {
        return keys(name).stream()
                .map(key -> server.command("MEMORY", "USAGE", key, "SAMPLES", "0"))
                .mapToLong(bytes -> bytes instanceof Long known ? known : 0)
                .sum();
    }
}
