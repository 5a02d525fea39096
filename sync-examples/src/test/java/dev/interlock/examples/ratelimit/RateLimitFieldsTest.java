package dev.interlock.examples.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RateLimitFieldsTest {

    private static final RateLimit WINDOW = RateLimit.fixedWindow(3, Duration.ofSeconds(10));
    private static final RateLimit BUCKET =
            RateLimit.tokenBucket(5, Duration.ofSeconds(1)).withBurst(10);

    private static RateLimitFields admitted(RateLimit limit, long remaining, Duration resetAfter) {
        return new RateLimitFields(
                "name", limit, new Decision(true, limit.burst(), remaining, Duration.ZERO, resetAfter));
    }

    private static RateLimitFields refused(RateLimit limit, Duration retryAfter, Duration resetAfter) {
        return new RateLimitFields("name", limit, new Decision(false, limit.burst(), 0, retryAfter, resetAfter));
    }

    @Test
    void roundsSecondsUp() {
        assertThat(admitted(WINDOW, 2, Duration.ofMillis(6_001)).rateLimit()).isEqualTo("\"name\";r=2;t=7");
        assertThat(admitted(WINDOW, 2, Duration.ofSeconds(7)).rateLimit()).isEqualTo("\"name\";r=2;t=7");
        assertThat(refused(WINDOW, Duration.ofNanos(1), Duration.ofNanos(1)).retryAfter())
                .isEqualTo("1");
    }

    /** Who is told 0 would come at once. */
    @Test
    void neverSaysToTryAgainAtOnce() {
        assertThat(refused(WINDOW, Duration.ZERO, Duration.ZERO).retryAfter()).isEqualTo("1");
    }

    /** There is never more left than the quota, and the rate is that of the limit. */
    @Test
    void describesABucketByItsSize() {
        assertThat(admitted(WINDOW, 2, Duration.ZERO).rateLimitPolicy()).isEqualTo("\"name\";q=3;w=10");
        assertThat(admitted(BUCKET, 9, Duration.ZERO).rateLimitPolicy()).isEqualTo("\"name\";q=10;w=2");
    }

    /** A bucket has its next token long before it is full. */
    @Test
    void announcesNoLaterResetThanRetry() {
        var fields = refused(BUCKET, Duration.ofMillis(200), Duration.ofSeconds(2));
        assertThat(fields.rateLimit()).isEqualTo("\"name\";r=0;t=1");
        assertThat(fields.retryAfter()).isEqualTo("1");
    }
}
