package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Sessions whose clocks are a century apart, overflow or are negative share a limit by the clock of Redis. */
class RateLimiterClocksTest {
    private static final long CENTURY_NANOS = Duration.ofDays(36_500).toNanos();
    private static final int PERMITS = 100;
    private static final Duration DAY = Duration.ofDays(1);

    private static final List<Long> CLOCKS =
            List.of(CENTURY_NANOS, -CENTURY_NANOS, Long.MAX_VALUE - 1_000_000, -1_000_000L);

    static Stream<RateLimit> limits() {
        return Stream.of(
                RateLimit.fixedWindow(PERMITS, DAY),
                RateLimit.slidingWindow(PERMITS, DAY),
                RateLimit.tokenBucket(1, DAY).withBurst(PERMITS));
    }

    private static LongSupplier clock(long startNanos) {
        long origin = System.nanoTime();
        return () -> startNanos + System.nanoTime() - origin;
    }

    /** Two of the four sessions take permits ahead; asked in turn, all together are granted exactly the limit. */
    @ParameterizedTest
    @MethodSource("limits")
    void clocksOfSessionsDoNotChangeALimit(RateLimit limit) {
        List<Interlock> sessions = new ArrayList<>();
        try (RedisServer redis = RedisServer.launch()) {
            List<RateLimiter> limiters = new ArrayList<>();
            for (long startNanos : CLOCKS) {
                Interlock session = Interlock.builder()
                        .uri(redis.url())
                        .ticker(clock(startNanos))
                        .open();
                sessions.add(session);
                limiters.add(session.rateLimiter("shared", limit).prefetch(1 + sessions.size() % 2 * 4));
            }
            long granted = 0;
            for (int i = 0; i < 2 * PERMITS; i++) {
                for (RateLimiter limiter : limiters) {
                    granted += limiter.tryAcquire() ? 1 : 0;
                }
            }
            assertThat(granted).isEqualTo(PERMITS);
            sessions.forEach(Interlock::close);
        }
    }
}
