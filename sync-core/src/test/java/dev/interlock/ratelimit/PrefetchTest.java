package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

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
