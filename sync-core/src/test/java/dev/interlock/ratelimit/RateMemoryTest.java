package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

/** Keys of rate limiters take room for no longer than they have to. */
@Tag("proof")
class RateMemoryTest {

    private static final Duration WINDOW = Duration.ofSeconds(2);
    private static final int IN_FLIGHT = 100;
    private static final int MANY = 100;
    private static final long LONG_SOAK_SECONDS = 120;

    /** One key in so many takes permits ahead. */
    private static final int PREFETCHED = 50;

    private static final List<RateLimit> LIMITS = List.of(
            RateLimit.fixedWindow(5, WINDOW),
            RateLimit.slidingWindow(5, WINDOW),
            RateLimit.tokenBucket(5, WINDOW).withBurst(20));

    private final TestReporter reporter;
    private final RedisServer server = RedisServer.launch();

    RateMemoryTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @AfterEach
    void close() {
        server.close();
    }

    /** However many keys there were, they all expire with their windows, and nothing is left. */
    @Test
    void keysLeaveNothingAfterTheirWindows() throws InterruptedException {
        assertNothingIsLeftOf(3_000, 1_500);
    }

    /** The same with a million of them, if the soak is to last long. */
    @Test
    @Tag("soak")
    void soak() throws InterruptedException {
        int keys = Long.getLong("interlock.soak.seconds", LONG_SOAK_SECONDS) < LONG_SOAK_SECONDS ? 20_000 : 1_000_000;
        assertNothingIsLeftOf(keys, keys / 20);
    }

    private void assertNothingIsLeftOf(int keys, int between) throws InterruptedException {
        var admitted = new AtomicLong();
        var failures = new ConcurrentLinkedQueue<Throwable>();
        long most = 0;
        try (Interlock interlock = Interlock.builder()
                .uri(server.url())
                .commandTimeout(Duration.ofSeconds(30))
                .open()) {
            List<RateLimiter> limiters = LIMITS.stream()
                    .map(limit -> interlock.rateLimiter(limit.algorithm().name(), limit))
                    .toList();
            var room = new Semaphore(IN_FLIGHT);
            for (int i = 1; i <= keys; i++) {
                for (RateLimiter all : limiters) {
                    RateLimiter limiter = all.forKey("k" + i).prefetch(i % PREFETCHED == 0 ? 3 : 1);
                    room.acquire();
                    limiter.tryAcquireAsync(1).whenComplete((isAdmitted, failure) -> {
                        if (failure != null) {
                            failures.add(failure);
                        } else if (isAdmitted) {
                            admitted.incrementAndGet();
                        }
                        room.release();
                    });
                }
                if (i % between == 0) {
                    most = Math.max(most, assertAllExpire().keys());
                }
            }
            room.acquire(IN_FLIGHT);
            assertThat(failures).isEmpty();
            assertThat(admitted).as("the first of each key").hasValue((long) keys * limiters.size());
            await().atMost(WINDOW.multipliedBy(2).plusSeconds(20))
                    .untilAsserted(() -> assertThat(server.command("DBSIZE")).isEqualTo(0L));
        }
        assertThat(server.keys()).isEmpty();
        reporter.publishEntry(keys + " keys by each algorithm, at most " + most + " alive at a time");
    }

    private Census assertAllExpire() {
        Census census = Census.of(server, "*");
        assertThat(census.keys()).as("keys alive").isPositive();
        assertThat(census.eternal()).as("keys without a TTL").isZero();
        assertThat(census.mostMillis()).as("longest TTL").isBetween(1L, 2 * WINDOW.toMillis());
        return census;
    }

    /** What a key takes hardly grows with what is taken for it. */
    @Test
    void sizeOfAKey() {
        try (Interlock interlock = Interlock.connect(server.url());
                Interlock other = Interlock.connect(server.url())) {
            Duration day = Duration.ofDays(1);
            for (RateLimit limit : List.of(
                    RateLimit.fixedWindow(1_000, day),
                    RateLimit.slidingWindow(1_000, day),
                    RateLimit.tokenBucket(1_000, day))) {
                weigh(interlock.rateLimiter("limit", limit), other.rateLimiter("limit", limit));
            }
        }
    }

    private void weigh(RateLimiter limiter, RateLimiter ofOtherSession) {
        String by = limiter.limit().algorithm().toString();
        assertThat(limiter.forKey("once-" + by).tryAcquire()).isTrue();
        RateLimiter often = limiter.forKey("often-" + by);
        for (int i = 0; i < MANY; i++) {
            assertThat(often.tryAcquire()).isTrue();
        }
        RateLimiter atOnce = limiter.forKey("batch-" + by);
        Stream.generate(() -> atOnce.tryAcquireAsync(1))
                .limit(MANY)
                .toList()
                .forEach(taken -> assertThat(taken.join()).isTrue());
        assertThat(limiter.forKey("shared-" + by).tryAcquire()).isTrue();
        assertThat(ofOtherSession.forKey("shared-" + by).tryAcquire()).isTrue();

        Map<String, Long> bytes = new LinkedHashMap<>();
        for (String key : List.of("once", "often", "batch", "shared")) {
            Census census = Census.of(server, "*:" + key + "-" + by);
            assertThat(census.keys()).as("keys for %s", key).isEqualTo(1);
            bytes.put(key, census.bytes());
        }
        assertThat(bytes)
                .hasEntrySatisfying(
                        "often",
                        grown -> assertThat(grown)
                                .isLessThanOrEqualTo(bytes.getOrDefault("once", 0L) + mostGrowth(limiter.limit())));
        reporter.publishEntry(
                by + ": bytes after one permit, many, many at once, and one of each of two sessions", "" + bytes);
    }

    /** A sliding window has 64 entries in its log, of 16 bytes each, and what is no short text any more takes more. */
    private static long mostGrowth(RateLimit limit) {
        return limit.algorithm() == RateLimit.Algorithm.SLIDING_WINDOW ? 64 * 16 + 250 : 50;
    }
}
