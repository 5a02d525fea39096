package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PrefetchTest {

    /**
     * Those who waited for the fetch took it for still under way when its permits didn't suffice for them, and asked it over and over
     * until the stack was full.
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
}
