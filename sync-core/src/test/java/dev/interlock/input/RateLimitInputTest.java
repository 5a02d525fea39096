package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.interlock.Interlock;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad arguments to rate limiters get an error that names the argument and its range, and nothing is charged. */
@SuppressWarnings("NullAway") // What null does is the question.
class RateLimitInputTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static RedisServer server;
    private static Interlock interlock;
    private static RateLimiter limiter;

    @BeforeAll
    static void open() {
        server = RedisServer.launch();
        interlock = Interlock.connect(server.url());
        limiter = interlock.rateLimiter("any", RateLimit.fixedWindow(1, SECOND));
    }

    @AfterAll
    static void close() {
        assertThat(server.keys()).isEmpty();
        interlock.close();
        server.close();
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1_000_000_001, Long.MAX_VALUE})
    void permitsMustBeInTheirRange(long permits) {
        List<LongConsumer> all = List.of(
                n -> RateLimit.fixedWindow(n, SECOND),
                n -> RateLimit.slidingWindow(n, SECOND),
                n -> RateLimit.tokenBucket(n, SECOND),
                limiter::tryAcquire,
                limiter::acquire,
                limiter::decide,
                limiter::tryAcquireAsync,
                limiter::acquireAsync,
                limiter::decideAsync,
                n -> limiter.tryAcquire(n, SECOND),
                n -> limiter.tryAcquireAsync(n, SECOND));
        assertThat(all)
                .allSatisfy(call -> assertThatIllegalArgumentException()
                        .isThrownBy(() -> call.accept(permits))
                        .withMessage("permits must be from 1 to 1000000000, but is " + permits));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RateLimit.tokenBucket(1, SECOND).withBurst(permits))
                .withMessage("burst must be from 1 to 1000000000, but is " + permits);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limiter.prefetch(permits))
                .withMessage("n must be from 1 to 1000000000, but is " + permits);
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT0.0000001S", "PT1.0005S", "P367D", "P100000000D"})
    void windowMustBeInItsRange(String window) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RateLimit.slidingWindow(1, Duration.parse(window)))
                .withMessageContaining("window must be from 1 ms to 366 days");
    }

    @Test
    void nothingMayBeMissing() {
        assertThatNullPointerException()
                .isThrownBy(() -> RateLimit.fixedWindow(1, null))
                .withMessageContaining("window");
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.rateLimiter("any", null))
                .withMessageContaining("limit");
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.rateLimiter(null, limiter.limit()))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.rateLimiter("", limiter.limit()))
                .withMessageContaining("name must not be empty");
        assertThatNullPointerException().isThrownBy(() -> limiter.forKey(null)).withMessageContaining("key");
        assertThatNullPointerException()
                .isThrownBy(() -> limiter.tryAcquire(1, null))
                .withMessageContaining("timeout");
        assertThatNullPointerException()
                .isThrownBy(() -> limiter.whenUnavailable(null))
                .withMessageContaining("policy");
        assertThatNullPointerException().isThrownBy(() -> limiter.update(null)).withMessageContaining("limit");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\n\t"})
    void keyMustNotBeBlank(String key) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limiter.forKey(key))
                .withMessageContaining("key must not be blank");
    }

    @Test
    void whatDoesNotGoTogether() {
        assertThatIllegalStateException().isThrownBy(() -> limiter.forKey("a").forKey("b"));
        assertThatIllegalStateException()
                .isThrownBy(() -> limiter.prefetch(2).forKey("b"))
                .withMessageContaining("forKey");
        assertThatIllegalStateException()
                .isThrownBy(() -> RateLimit.fixedWindow(1, SECOND).withBurst(2))
                .withMessageContaining("burst");
        assertThat(limiter.prefetch(1).forKey("b")).isNotNull();
    }

    /** The largest limits work to the last permit. */
    @Test
    void largestLimitsWork() {
        Duration year = Duration.ofDays(366);
        long most = RateLimit.MOST_PERMITS;
        for (RateLimit limit : List.of(
                RateLimit.fixedWindow(most, year),
                RateLimit.slidingWindow(most, year),
                RateLimit.tokenBucket(most, year),
                RateLimit.tokenBucket(most, Duration.ofMillis(1)),
                RateLimit.tokenBucket(1, year).withBurst(most))) {
            RateLimiter large = interlock.rateLimiter("large", limit);
            assertThat(large.decide(most - 1).remaining()).as("%s", limit).isBetween(1L, limit.burst());
            assertThat(large.decide(1).allowed()).isTrue();
            server.command("FLUSHALL");
        }
    }
}
