package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BucketPrefetchTest {

    private final RedisServer redis = RedisServer.launch();
    private final AtomicLong nanos = new AtomicLong();

    @AfterEach
    void close() {
        redis.close();
    }

    /**
     * Permits taken ahead were good for the time in which as many come as were granted: if a bucket was nearly empty, for less than a round
     * trip, and a limiter that was asked all the time lost much of what it took.
     */
    @Test
    void whatWasTakenAheadIsGoodUntilTheBucketWouldBeFull() {
        try (Interlock interlock =
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
