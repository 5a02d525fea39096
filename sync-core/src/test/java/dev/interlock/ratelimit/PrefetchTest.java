package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What befell permits that were taken ahead. */
class PrefetchTest {

    /**
     * Those who waited for the fetch took it for still under way when its permits didn't suffice for them, and asked it
     * over and over until the stack was full.
     */
    @Test
    void whoFindsNothingLeftOfWhatOthersFetchedFetchesMore() {
        try (RedisServer redis = RedisServer.launch();
                Interlock session = Interlock.connect(redis.url())) {
            RateLimiter limiter = session.rateLimiter("ahead", RateLimit.fixedWindow(100, Duration.ofMinutes(1)));
            RateLimiter ahead = limiter.prefetch(2);
            redis.pause();
            var asked = Stream.generate(() -> ahead.tryAcquireAsync(1)).limit(9).toList();
            redis.resume();
            assertThat(asked).map(CompletableFuture::join).containsOnly(true);
            // Five fetches, of which one is left.
            assertThat(limiter.decide(1).remaining()).isEqualTo(89);
        }
    }

    /** What was left, but not enough, was given up for the next fetch: requests of 4 got 80 of 100, of 6 got 60. */
    @ParameterizedTest
    @CsvSource({"1, 100, 10", "3, 99, 10", "4, 100, 10", "6, 96, 10", "7, 98, 10", "9, 99, 10", "10, 100, 10"})
    void requestsOfAnySizeGetAllThereIs(int size, long granted, long fetches) {
        try (RedisServer redis = RedisServer.launch();
                Interlock session = Interlock.connect(redis.url())) {
            RateLimiter limiter = session.rateLimiter("ahead", RateLimit.fixedWindow(100, Duration.ofDays(1)));
            RateLimiter ahead = limiter.prefetch(10);
            limiter.forKey("warm").tryAcquire();
            long asked = redis.commandCalls("evalsha");
            long got = 0;
            while (ahead.tryAcquire(size)) {
                got += size;
            }
            assertThat(got).isEqualTo(granted);
            assertThat(redis.commandCalls("evalsha") - asked).isBetween(fetches, fetches + 4);
            assertThat(ahead.decide(size).remaining()).isEqualTo(100 - granted);
            for (long left = 100 - granted; left > 0; left--) {
                assertThat(ahead.acquire()).isZero();
            }
            assertThat(ahead.tryAcquire()).isFalse();
        }
    }

    /** Requests of all sizes from several threads, some of which would wait, get exactly what there is. */
    @Test
    void threadsLoseNothingOfWhatWasTakenAhead() {
        ExecutorService threads = Executors.newFixedThreadPool(4);
        try (RedisServer redis = RedisServer.launch();
                Interlock session = Interlock.connect(redis.url())) {
            RateLimiter limiter = session.rateLimiter("ahead", RateLimit.fixedWindow(2_000, Duration.ofDays(1)));
            RateLimiter ahead = limiter.prefetch(10);
            List<CompletableFuture<Long>> counts = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Random random = new Random(thread);
                counts.add(CompletableFuture.supplyAsync(() -> takeAll(ahead, random), threads));
            }
            assertThat(counts.stream().mapToLong(CompletableFuture::join).sum()).isEqualTo(2_000);
            assertThat(limiter.decide(1).allowed()).isFalse();
        } finally {
            threads.shutdown();
        }
    }

    /** Takes permits in random portions until there is none; returns how many. */
    private static long takeAll(RateLimiter ahead, Random random) {
        long got = 0;
        while (true) {
            long wanted = 1L + random.nextInt(12);
            boolean isGranted =
                    random.nextBoolean() ? ahead.tryAcquire(wanted) : ahead.tryAcquire(wanted, Duration.ofSeconds(1));
            if (isGranted) {
                got += wanted;
            } else if (ahead.tryAcquire()) {
                got++;
            } else {
                return got;
            }
        }
    }

    /** A request that waits doesn't count on permits of the window before, and leaves them to others. */
    @Test
    void whatIsLeftOfOneWindowIsNoPartOfTheNext() {
        try (RedisServer redis = RedisServer.launch();
                Interlock session = Interlock.connect(redis.url())) {
            RateLimiter limiter = session.rateLimiter("ahead", RateLimit.fixedWindow(10, Duration.ofDays(1)));
            RateLimiter ahead = limiter.prefetch(10);
            assertThat(ahead.tryAcquire(7)).isTrue();
            CompletableFuture<Duration> waits = ahead.acquireAsync(4);
            assertThat(limiter.decide(1).retryAfter()).isGreaterThan(Duration.ofHours(23));
            assertThat(ahead.tryAcquire(3)).isTrue();
            assertThat(waits).isNotDone();
            redis.command("FLUSHALL");
            assertThat(limiter.decide(1).remaining()).isEqualTo(9);
        }
    }

    /**
     * Permits taken ahead were good for the time in which as many come as were granted: if a bucket was nearly empty,
     * for less than a round trip, and a limiter that was asked all the time lost much of what it took.
     */
    @Test
    void whatWasTakenAheadIsGoodUntilTheBucketWouldBeFull() {
        AtomicLong nanos = new AtomicLong();
        try (RedisServer redis = RedisServer.launch();
                Interlock interlock =
                        Interlock.builder().uri(redis.url()).ticker(nanos::get).open()) {
            RateLimiter limiter = interlock.rateLimiter("ahead", RateLimit.tokenBucket(6, Duration.ofHours(6)));
            RateLimiter ahead = limiter.prefetch(10);
            assertThat(limiter.tryAcquire(3)).isTrue();
            assertThat(ahead.tryAcquire()).isTrue();
            assertThat(limiter.decide(1).allowed()).isFalse();
            nanos.addAndGet(Duration.ofHours(5).toNanos());
            assertThat(ahead.tryAcquire()).isTrue();
            nanos.addAndGet(Duration.ofHours(2).toNanos());
            assertThat(ahead.tryAcquire()).isFalse();
        }
    }
}
