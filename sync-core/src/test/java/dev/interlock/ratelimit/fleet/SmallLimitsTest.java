package dev.interlock.ratelimit.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.TooLate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Callers get all of a small limit, in real time: {@code LimitRateTest} has more of them, by a virtual clock. */
@Tag("proof")
@Timely
class SmallLimitsTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final int WINDOWS = 5;

    static Stream<RateLimit> limits() {
        return Stream.of(1, 3, 10)
                .flatMap(permits -> Stream.of(
                        RateLimit.fixedWindow(permits, SECOND),
                        RateLimit.slidingWindow(permits, SECOND),
                        RateLimit.tokenBucket(permits, SECOND)));
    }

    /** Permits for six windows, of which five have to come, take 2 % more than that at most. */
    @ParameterizedTest
    @MethodSource("limits")
    void aCallerThatObeysRetryAfterGetsTheLimit(RateLimit limit) {
        try (RedisServer redis = RedisServer.launch();
                Interlock interlock = RedisServer.connect(() -> Interlock.connect(redis.url()))) {
            RateLimiter limiter = interlock.rateLimiter("small", limit);
            limiter.forKey("warm").decide(1);
            List<Call> calls = new ArrayList<>();
            long wanted = (WINDOWS + 1) * limit.permits();
            long begun = Monotonic.nanos();
            while (wanted > 0) {
                long asked = Monotonic.nanos();
                Decision decision = limiter.decide(1);
                wanted -= decision.allowed() ? 1 : 0;
                calls.add(new Call(0, asked, Monotonic.nanos(), decision.allowed() ? Call.ADMITTED : Call.REFUSED));
                LockSupport.parkNanos(decision.retryAfter().toNanos());
            }
            Duration took = Duration.ofNanos(Monotonic.nanos() - begun);
            new Admissions(limit, calls).assertNoStretchHasMore(0);
            Duration due = SECOND.multipliedBy(WINDOWS);
            TooLate.assertWithin(due.dividedBy(98).multipliedBy(100).plusMillis(20), took);
        }
    }

    /** Requests at nine tenths of the limit, or later on a busy machine, are never refused. */
    @ParameterizedTest
    @MethodSource("limits")
    void aCallerBelowTheLimitIsNeverRefused(RateLimit limit) {
        try (RedisServer redis = RedisServer.launch();
                Interlock interlock = RedisServer.connect(() -> Interlock.connect(redis.url()))) {
            RateLimiter limiter = interlock.rateLimiter("small", limit);
            long spacing = SECOND.toNanos() * 10 / 9 / limit.permits();
            for (long i = 0; i < 3 * limit.permits(); i++) {
                assertThat(limiter.tryAcquire()).as("request %s", i).isTrue();
                long until = Monotonic.nanos() + spacing;
                while (Monotonic.nanos() < until) {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                }
            }
        }
    }
}
