package dev.interlock.ratelimit.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.ratelimit.OutagePolicy;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.Loss;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A request is charged once at most, whatever becomes of commands and answers; and while Redis is away, the policy
 * decides.
 */
class RateLimiterFaultsTest extends FaultFixture {
    private static final String NAME = "calls";

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|:rate(:u\\d+)?$";
    }

    private static boolean isDecision(List<String> words) {
        return words.get(0).equalsIgnoreCase("EVALSHA") && words.contains("interlock:{" + NAME + "}:rate");
    }

    private static RateLimit limit(RateLimit.Algorithm algorithm) {
        Duration hour = Duration.ofHours(1);
        return switch (algorithm) {
            case FIXED_WINDOW -> RateLimit.fixedWindow(10, hour);
            case SLIDING_WINDOW -> RateLimit.slidingWindow(10, hour);
            case TOKEN_BUCKET -> RateLimit.tokenBucket(10, hour);
        };
    }

    private static RateLimiter limiter(Interlock session) {
        return session.rateLimiter(NAME, limit(RateLimit.Algorithm.FIXED_WINDOW));
    }

    /** Has Redis know the script, so that no request is refused that a test means. */
    @BeforeEach
    void useScript() {
        undisturbed()
                .rateLimiter("warm", RateLimit.fixedWindow(1, Duration.ofMillis(1)))
                .tryAcquire();
    }

    /** What was left, before this took one of it. */
    private long remaining(RateLimit limit) {
        return undisturbed().rateLimiter(NAME, limit).decide(1).remaining() + 1;
    }

    @ParameterizedTest
    @EnumSource
    @Tag("proof")
    void lostAnswerIsChargedOnce(RateLimit.Algorithm algorithm) {
        RateLimiter limiter = session().rateLimiter(NAME, limit(algorithm));
        proxy().dropReplies(RateLimiterFaultsTest::isDecision, 1, Loss.CUT);

        assertThat(limiter.tryAcquire(3)).isTrue();

        assertThat(dropped()).isEqualTo(1);
        assertThat(remaining(limit(algorithm))).isEqualTo(7);
    }

    /** The connection says nothing any more: the command is repeated on another. */
    @Test
    @Tag("proof")
    void silentConnectionIsChargedOnce() {
        RateLimiter limiter = limiter(session());
        proxy().dropReplies(RateLimiterFaultsTest::isDecision, 1, Loss.MUTE);

        assertThat(limiter.decide(3).remaining()).isEqualTo(7);

        assertThat(remaining(limit(RateLimit.Algorithm.FIXED_WINDOW))).isEqualTo(7);
    }

    /**
     * Redis is silent: each policy does what it says and tells the listener; during the outage at once; afterwards all
     * is as before.
     */
    @ParameterizedTest
    @EnumSource
    @Tag("proof")
    void policyDecidesWhileRedisIsAway(OutagePolicy policy) {
        var told = new ConcurrentLinkedQueue<String>();
        // The first request has to time out.
        Interlock session = impatient(builder -> builder.listener(new SyncListener() {
            @Override
            public void decidedWithoutRedis(String name, long permits, OutagePolicy done) {
                told.add(name + " " + permits + " " + done);
            }
        }));
        RateLimiter limiter = limiter(session).whenUnavailable(policy);
        assertThat(limiter.tryAcquire()).isTrue();
        proxy().stall();
        Actor actor = actor("actor");

        CompletableFuture<Boolean> asked = actor.begin(() -> meet(policy, limiter));
        assertThat(asked).succeedsWithin(SHORT_TIMEOUT.plus(SLACK));
        for (int i = 0; i < 1_000; i++) {
            meet(policy, limiter.forKey("u" + i));
        }

        assertThat(told).hasSizeGreaterThan(1_000).allMatch(("calls 1 " + policy)::equals);
        proxy().heal();
        await("back").until(() -> {
            int before = told.size();
            try {
                limiter.decide(1);
            } catch (RedisUnavailableException e) {
                return false;
            }
            return told.size() == before;
        });
    }

    private static void meet(OutagePolicy policy, RateLimiter limiter) {
        switch (policy) {
            case ADMIT -> {
                assertThat(limiter.tryAcquire()).isTrue();
                assertThat(limiter.acquire()).isZero();
            }
            case REFUSE -> {
                assertThat(limiter.decide(1))
                        .matches(decision ->
                                !decision.allowed() && !decision.retryAfter().isZero());
                assertThatExceptionOfType(RedisUnavailableException.class).isThrownBy(limiter::acquire);
            }
            case FAIL -> {
                assertThatExceptionOfType(RedisUnavailableException.class).isThrownBy(limiter::tryAcquire);
                assertThat(limiter.decideAsync(1))
                        .failsWithin(PATIENCE)
                        .withThrowableThat()
                        .withCauseInstanceOf(RedisUnavailableException.class);
            }
        }
    }

    /** What was taken ahead serves on while Redis is away. */
    @Test
    void whatWasTakenAheadServesDuringAnOutage() {
        // What is asked in the end has to time out.
        RateLimiter limiter = limiter(impatient()).prefetch(5);
        assertThat(limiter.tryAcquire()).isTrue();
        proxy().stall();
        for (int i = 0; i < 4; i++) {
            assertThat(limiter.tryAcquire()).isTrue();
        }
        assertThatExceptionOfType(RedisUnavailableException.class).isThrownBy(limiter::tryAcquire);
    }

    /** The session is closed while requests are under way, and then others come. */
    @Test
    void closedSessionFails() {
        Interlock session = session();
        RateLimiter limiter = limiter(session);
        RateLimiter ahead = limiter(session).prefetch(5);
        assertThat(ahead.tryAcquire()).isTrue();
        proxy().delayReplies(RateLimiterFaultsTest::isDecision, Duration.ofSeconds(2), FaultProxy.ALWAYS);
        CompletableFuture<Boolean> asked = limiter.tryAcquireAsync(1);

        session.close();

        assertThat(asked).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(IllegalStateException.class);
        assertThatIllegalStateException().isThrownBy(limiter::tryAcquire).withMessageContaining("closed");
        assertThatIllegalStateException().isThrownBy(ahead::tryAcquire).withMessageContaining("closed");
        assertThatIllegalStateException().isThrownBy(() -> limiter.update(limit(RateLimit.Algorithm.FIXED_WINDOW)));
        assertThat(limiter.decideAsync(1)).failsWithin(PATIENCE);
        assertThatIllegalStateException().isThrownBy(() -> limiter(session));
    }

    /** Closing the session ends a wait for permits of a window that is far away. */
    @Test
    void closeEndsWaits() {
        Interlock session = session();
        RateLimiter limiter = session.rateLimiter(NAME, RateLimit.fixedWindow(1, Duration.ofHours(1)));
        assertThat(limiter.tryAcquire()).isTrue();
        List<CompletableFuture<?>> waits = List.of(
                actor("acquires").ask(() -> limiter.acquire()),
                actor("tries").ask(() -> limiter.tryAcquire(1, Duration.ofDays(1))),
                limiter.acquireAsync(1),
                limiter.tryAcquireAsync(1, Duration.ofDays(1)));
        await("they wait")
                .during(Duration.ofMillis(400))
                .until(() -> waits.stream().noneMatch(CompletableFuture::isDone));

        session.close();

        for (CompletableFuture<?> wait : waits) {
            assertThat(wait)
                    .failsWithin(PATIENCE)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(IllegalStateException.class)
                    .withMessageContaining("closed");
        }
    }

    /** An interrupt neither ends a wait nor is lost. */
    @Test
    void interruptIsKept() {
        RateLimiter limiter = session().rateLimiter(NAME, RateLimit.tokenBucket(1, Duration.ofMillis(300)));
        Actor actor = actor("actor");
        actor.run(() -> {
            Thread.currentThread().interrupt();
            limiter.acquire();
            assertThat(limiter.acquire()).isPositive();
            assertThat(Thread.interrupted()).isTrue();
        });
    }
}
