package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.SyncListener;
import dev.interlock.testing.MovableTicker;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.Redisson;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** What limiters of two sessions admit, refuse and tell. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RateLimiterTest {
    /** So long a window that none ends in the course of a test, and nothing comes back. */
    private static final Duration MONTH = Duration.ofDays(30);

    /** What a test may take. */
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private static RedisServer server;
    private static Interlock one;
    private static Interlock other;

    @BeforeAll
    static void open() {
        server = RedisServer.launch();
        one = session();
        other = session();
    }

    /** On a busy machine an update, of hundreds of keys, may take long. */
    private static Interlock session() {
        return Interlock.builder()
                .uri(server.url())
                .commandTimeout(Duration.ofSeconds(20))
                .open();
    }

    @AfterAll
    static void close() {
        one.close();
        other.close();
        server.close();
    }

    @BeforeEach
    void flush() {
        server.command("FLUSHALL");
    }

    static Stream<RateLimit> threeAMonth() {
        return Stream.of(
                RateLimit.fixedWindow(3, MONTH), RateLimit.slidingWindow(3, MONTH), RateLimit.tokenBucket(3, MONTH));
    }

    /**
     * Sessions share the permits, and each decision says what is left. A refusal changes nothing, nor does it prolong
     * anything.
     */
    @ParameterizedTest
    @MethodSource("threeAMonth")
    void noMoreThanTheLimit(RateLimit limit) {
        RateLimiter here = one.rateLimiter("calls", limit);
        RateLimiter there = other.rateLimiter("calls", limit);

        assertThat(here.decide(1))
                .matches(Decision::allowed)
                .extracting(Decision::remaining)
                .isEqualTo(2L);
        assertThat(there.decide(2))
                .matches(Decision::allowed)
                .extracting(Decision::remaining)
                .isEqualTo(0L);
        Map<String, String> state = state();
        Decision refused = here.decide(1);

        assertThat(refused.allowed()).isFalse();
        assertThat(refused.limit()).isEqualTo(3);
        assertThat(refused.remaining()).isZero();
        assertThat(refused.retryAfter()).isPositive().isLessThanOrEqualTo(MONTH.multipliedBy(2));
        assertThat(refused.resetAfter()).isPositive().isLessThanOrEqualTo(MONTH.multipliedBy(2));
        assertThat(there.tryAcquire()).isFalse();
        assertThat(here.tryAcquire(1, Duration.ofMillis(1))).isFalse();
        assertThat(here.tryAcquireAsync(1)).succeedsWithin(MINUTE).isEqualTo(false);
        assertThat(state()).isEqualTo(state);
        assertThat(server.ttlMillis())
                .allSatisfy((key, millis) -> assertThat(millis).as(key).isBetween(1L, 2 * MONTH.toMillis()));
    }

    private static Map<String, String> state() {
        return server.keys().stream()
                .collect(Collectors.toMap(key -> key, key -> String.valueOf(server.command("HGETALL", key))));
    }

    /** More than there can ever be at once is refused for ever, and can't be waited for. */
    @ParameterizedTest
    @MethodSource("threeAMonth")
    void moreThanThereCanBe(RateLimit limit) {
        RateLimiter limiter = one.rateLimiter("calls", limit);

        assertThat(limiter.decide(4)).isEqualTo(new Decision(false, 3, 3, Decision.NEVER, Duration.ZERO));
        assertThat(limiter.tryAcquire(4, MONTH)).isFalse();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limiter.acquire(4))
                .withMessageContaining("from 1 to 3")
                .withMessageContaining("but is 4");
        assertThat(limiter.acquireAsync(4))
                .failsWithin(MINUTE)
                .withThrowableThat()
                .withCauseInstanceOf(IllegalArgumentException.class);
        assertThat(server.keys()).isEmpty();
    }

    /** Keys count for themselves, whatever they look like, and follow the limiter's policy and limit. */
    @ParameterizedTest
    @MethodSource("threeAMonth")
    void keysCountForThemselves(RateLimit limit) {
        RateLimiter limiter = one.rateLimiter("calls {of} users", limit);
        for (String key : List.of("u", "{u}", "u}", "{", "}{", "a b\n\0", "ü€😀", "x".repeat(1_024), "rate", ":")) {
            assertThat(limiter.forKey(key).tryAcquire(3)).as(key).isTrue();
            assertThat(limiter.forKey(key).tryAcquire()).as(key).isFalse();
        }
        assertThat(limiter.tryAcquire(3)).isTrue();
    }

    /**
     * Those who wait take what is yet to come, in the order in which they came; who doesn't want to wait that long is
     * refused.
     */
    @ParameterizedTest
    @MethodSource("waits")
    void thoseWhoWaitAreServedInOrder(RateLimit limit) {
        RateLimiter limiter = one.rateLimiter("calls", limit);
        assertThat(limiter.tryAcquire(2)).isTrue();

        long began = System.nanoTime();
        CompletableFuture<Duration> first = limiter.acquireAsync(2);
        CompletableFuture<Boolean> second = limiter.tryAcquireAsync(1, MINUTE);
        assertThat(limiter.tryAcquire()).isFalse();
        assertThat(limiter.tryAcquire(1, Duration.ofMillis(1))).isFalse();
        Duration third = limiter.acquire(2);
        long waited = System.nanoTime() - began;

        assertThat(second.join()).isTrue();
        assertThat(first.join()).isPositive().isLessThanOrEqualTo(third);
        assertThat(third).isLessThanOrEqualTo(Duration.ofNanos(waited));
        assertThat(waited).isGreaterThan(limit.window().toNanos());
    }

    static Stream<RateLimit> waits() {
        Duration window = Duration.ofSeconds(1);
        return Stream.of(
                RateLimit.fixedWindow(2, window), RateLimit.slidingWindow(2, window), RateLimit.tokenBucket(2, window));
    }

    /** A bucket gives its burst at once, and then what comes. */
    @Test
    void bucketHasItsBurst() {
        RateLimiter limiter =
                one.rateLimiter("calls", RateLimit.tokenBucket(1, MONTH).withBurst(5));

        assertThat(limiter.decide(5).remaining()).isZero();
        Decision refused = limiter.decide(2);

        assertThat(refused.retryAfter()).isBetween(MONTH.multipliedBy(2).minus(MINUTE), MONTH.multipliedBy(2));
        assertThat(refused.resetAfter()).isBetween(MONTH.multipliedBy(5).minus(MINUTE), MONTH.multipliedBy(5));
    }

    /** An update holds for all sessions and keys from the next request on, and what was taken counts against it. */
    @Test
    void updateHoldsForAll() {
        RateLimit stated = RateLimit.tokenBucket(10, MONTH);
        RateLimiter here = one.rateLimiter("calls", stated);
        RateLimiter there = other.rateLimiter("calls", stated).forKey("u");
        assertThat(there.decide(4).remaining()).isEqualTo(6);

        RateLimit updated = RateLimit.tokenBucket(20, MONTH.multipliedBy(2)).withBurst(5);
        here.update(updated);

        assertThat(here.limit()).isEqualTo(updated);
        assertThat(there.limit()).isEqualTo(stated);
        assertThat(there.decide(1))
                .matches(Decision::allowed)
                .extracting(Decision::limit)
                .isEqualTo(5L);
        assertThat(there.decide(1).allowed()).isFalse();
        assertThat(there.limit()).isEqualTo(updated);
        try (Interlock late = Interlock.connect(server.url())) {
            RateLimiter limiter = late.rateLimiter("calls", stated);
            assertThat(limiter.tryAcquire()).isTrue();
            assertThat(limiter.limit()).isEqualTo(updated);
        }
    }

    /** Of several updates at a time, one holds in the end, and for all users the same. */
    @Test
    void oneOfSeveralUpdatesStays() {
        RateLimit stated = RateLimit.fixedWindow(1, MONTH);
        List<RateLimiter> limiters = List.of(one.rateLimiter("calls", stated), other.rateLimiter("calls", stated));
        for (int round = 0; round < 10; round++) {
            int first = 2 * round + 1;
            IntStream.of(0, 1).parallel().forEach(i -> limiters.get(i).update(RateLimit.fixedWindow(first + i, MONTH)));
            assertThat(server.keys().stream().filter(key -> key.contains("{calls") && key.endsWith(":rate-limit")))
                    .hasSize(257)
                    .extracting(key -> server.command("GET", key))
                    .containsOnly(server.command("GET", "interlock:{calls}:rate-limit"));
        }
    }

    /** A limit that only a later version knows is an error, and nobody hangs. */
    @Test
    void limitOfALaterVersionIsAnError() {
        RateLimiter limiter = one.rateLimiter("calls", RateLimit.fixedWindow(3, MONTH));
        server.command("SET", "interlock:{calls}:rate-limit", "fixed 5000000000 1000000 5000000000");

        assertThat(limiter.tryAcquireAsync(1))
                .failsWithin(MINUTE)
                .withThrowableThat()
                .withCauseInstanceOf(IllegalArgumentException.class);
        server.command("DEL", "interlock:{calls}:rate-limit");
        assertThat(limiter.tryAcquire()).isTrue();
    }

    /** Of another window or another algorithm, what was taken still counts. */
    @Test
    void whatWasTakenCountsAfterAnUpdate() {
        RateLimiter limiter = one.rateLimiter("calls", RateLimit.slidingWindow(10, MONTH));
        limiter.decide(7);
        limiter.update(RateLimit.slidingWindow(10, MONTH.multipliedBy(3)));
        assertThat(limiter.decide(1).remaining()).isEqualTo(2);
        limiter.update(RateLimit.fixedWindow(12, MONTH));
        assertThat(limiter.decide(1).remaining()).isEqualTo(3);
        limiter.update(RateLimit.fixedWindow(10, MONTH));
        assertThat(limiter.decide(2).allowed()).isFalse();
        assertThat(limiter.decide(1).remaining()).isZero();
        limiter.update(RateLimit.fixedWindow(1, MONTH));
        assertThat(limiter.decide(1))
                .extracting(Decision::allowed, Decision::remaining)
                .containsExactly(false, 0L);
        limiter.update(RateLimit.tokenBucket(20, MONTH));
        assertThat(limiter.decide(11).allowed()).isFalse();
        assertThat(limiter.decide(10).allowed()).isTrue();
        limiter.update(RateLimit.tokenBucket(4, MONTH));
        assertThat(limiter.decide(1).retryAfter()).isBetween(MONTH.dividedBy(4).minus(MINUTE), MONTH.dividedBy(4));
    }

    /** What was taken ahead is served without asking Redis, and charged once. */
    @ParameterizedTest
    @MethodSource("manyAMonth")
    void whatWasTakenAheadNeedsNoRoundTrip(RateLimit limit) {
        RateLimiter limiter = one.rateLimiter("calls", limit).prefetch(40);
        assertThat(limiter.tryAcquire()).isTrue();
        long asked = asked();
        for (int i = 0; i < 13; i++) {
            assertThat(limiter.tryAcquire()).isTrue();
            assertThat(limiter.tryAcquire(1, MONTH)).isTrue();
            assertThat(limiter.tryAcquireAsync(1)).isCompletedWithValue(true);
        }
        assertThat(asked()).isEqualTo(asked);
        assertThat(other.rateLimiter("calls", limit).decide(60).remaining()).isZero();
        assertThat(limiter.decide(1).allowed()).isFalse();
        assertThat(limiter.whenUnavailable(OutagePolicy.ADMIT).tryAcquire()).isFalse();
    }

    static Stream<RateLimit> manyAMonth() {
        return Stream.of(
                RateLimit.fixedWindow(100, MONTH),
                RateLimit.slidingWindow(100, MONTH),
                RateLimit.tokenBucket(100, MONTH));
    }

    private static long asked() {
        return server.commandCalls("evalsha");
    }

    /** Only as many as are there are taken ahead, and more than a batch at once goes by itself. */
    @Test
    void takingAheadTakesWhatIsThere() {
        RateLimiter limiter =
                one.rateLimiter("calls", RateLimit.fixedWindow(5, MONTH)).prefetch(4);
        assertThat(limiter.decide(5).allowed()).isTrue();
        assertThat(limiter.decide(1).allowed()).isFalse();
        server.command("FLUSHALL");
        RateLimiter another =
                one.rateLimiter("calls", RateLimit.fixedWindow(5, MONTH)).prefetch(50);
        assertThat(another.decide(1).remaining()).isEqualTo(4);
        assertThat(IntStream.range(0, 6).filter(i -> another.tryAcquire())).hasSize(4);
    }

    /** What was taken ahead is of no use when its window is over, by the ticker. */
    @Test
    void whatWasTakenAheadExpires() {
        var ticker = new MovableTicker();
        try (Interlock session =
                Interlock.builder().uri(server.url()).ticker(ticker).open()) {
            RateLimiter limiter = session.rateLimiter("calls", RateLimit.fixedWindow(100, MONTH))
                    .prefetch(40);
            assertThat(limiter.tryAcquire()).isTrue();
            ticker.advance(MONTH.minus(MINUTE));
            long asked = asked();
            assertThat(limiter.tryAcquire()).isTrue();
            assertThat(asked()).isEqualTo(asked);
            ticker.advance(MINUTE);
            assertThat(limiter.tryAcquire()).isTrue();
            assertThat(asked()).isEqualTo(asked + 1);
        }
    }

    /** Threads of one JVM that come together share commands, and never get more than there is. */
    @ParameterizedTest
    @MethodSource("manyAMonth")
    void threadsShareCommands(RateLimit limit) {
        RateLimiter limiter = one.rateLimiter("calls", limit);
        limiter.tryAcquire(50);
        long asked = asked();
        List<CompletableFuture<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            all.add(limiter.tryAcquireAsync(1));
        }
        assertThat(all.stream().filter(CompletableFuture::join)).hasSize(50);
        assertThat(asked() - asked).isLessThan(400);
        server.command("FLUSHALL");
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<CompletableFuture<Long>> counts = IntStream.range(0, 8)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> IntStream.range(0, 50)
                                    .filter(j -> limiter.tryAcquire())
                                    .count(),
                            threads))
                    .toList();
            assertThat(counts.stream().mapToLong(CompletableFuture::join).sum()).isEqualTo(100);
        } finally {
            threads.shutdown();
        }
    }

    /**
     * The documents' script goes wrong with another codec than that of strings; a limiter doesn't care which one its
     * client has.
     */
    @Test
    void codecOfTheClientIsOfNoAccount() {
        String documents = """
                local used = redis.call('incr', KEYS[1])
                if used == 1 then redis.call('expire', KEYS[1], ARGV[1]) end
                if used > tonumber(ARGV[2]) then return 0 end
                return 1
                """;
        Config config = new Config();
        config.useSingleServer().setAddress(server.url());
        RedissonClient client = Redisson.create(config);
        try (Interlock session = Interlock.using(client)) {
            RateLimiter limiter = session.rateLimiter("calls", RateLimit.fixedWindow(3, MONTH));
            assertThat(IntStream.range(0, 5).filter(i -> limiter.tryAcquire())).hasSize(3);

            assertThat(client.getScript(StringCodec.INSTANCE)
                            .<Long>eval(
                                    RScript.Mode.READ_WRITE,
                                    documents,
                                    RScript.ReturnType.LONG,
                                    List.of("s"),
                                    "10",
                                    "3"))
                    .isEqualTo(1L);
            assertThatThrownBy(() -> client.getScript()
                            .eval(RScript.Mode.READ_WRITE, documents, RScript.ReturnType.LONG, List.of("j"), "10", "3"))
                    .hasMessageContaining("not an integer");
            // And the counter stays for ever.
            assertThat(server.command("TTL", "j")).isEqualTo(-1L);
        } finally {
            client.shutdown(0, 2, TimeUnit.SECONDS);
        }
    }

    /** All keys of a limiter are in one slot of a cluster, whatever its name and the keys of its users look like. */
    @Test
    void worksInACluster() {
        try (RedisServer node = RedisServer.launch("--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1")) {
            node.command("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
            await("cluster")
                    .until(() -> String.valueOf(node.command("CLUSTER", "INFO")).contains("cluster_state:ok"));
            Config config = new Config();
            config.useClusterServers().addNodeAddress(node.url());
            RedissonClient client = Redisson.create(config);
            try (Interlock session = Interlock.using(client)) {
                for (String name : List.of("plain", "{tag}s", "}", "{", "{}", "a{b", "a}b", "}{x}", "% {%7B}", "ü {")) {
                    RateLimiter limiter = session.rateLimiter(name, RateLimit.fixedWindow(2, MONTH));
                    limiter.update(RateLimit.tokenBucket(1, MONTH));
                    assertThat(limiter.tryAcquire()).as(name).isTrue();
                    assertThat(limiter.tryAcquire()).as(name).isFalse();
                    for (String key : List.of("u", "{u}", "}", "{", "}x{y}")) {
                        assertThat(limiter.forKey(key).tryAcquire())
                                .as(name + key)
                                .isTrue();
                        assertThat(limiter.forKey(key).tryAcquire())
                                .as(name + key)
                                .isFalse();
                    }
                }
            } finally {
                client.shutdown(0, 2, TimeUnit.SECONDS);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("threeAMonth")
    void availablePermitsAreSeenAndNotTaken(RateLimit limit) {
        RateLimiter limiter = one.rateLimiter("seen", limit);
        assertThat(limiter.availablePermits()).isEqualTo(3);
        assertThat(server.keys()).isEmpty();
        assertThat(limiter.tryAcquire(2)).isTrue();
        for (int i = 0; i < 3; i++) {
            assertThat(other.rateLimiter("seen", limit).availablePermits()).isEqualTo(1);
        }
        assertThat(limiter.forKey("user").availablePermits()).isEqualTo(3);
        assertThat(limiter.prefetch(2).availablePermits()).isEqualTo(1);
    }

    /** A request that waits is one request, and a look is none. */
    @Test
    void listenersHearOfEachRequestOnce() {
        List<String> heard = new CopyOnWriteArrayList<>();
        SyncListener listener = new SyncListener() {
            @Override
            public void decided(String name, long permits, boolean granted) {
                heard.add(permits + " " + granted);
            }
        };
        one.addListener(listener);
        try {
            RateLimiter limiter = one.rateLimiter("heard", RateLimit.tokenBucket(2, MONTH));
            assertThat(limiter.availablePermits()).isEqualTo(2);
            assertThat(limiter.decide(2, MINUTE).allowed()).isTrue();
            Decision refusal = limiter.decide(1, MINUTE);
            assertThat(refusal.allowed()).isFalse();
            assertThat(refusal.retryAfter()).isGreaterThan(MINUTE);
            assertThat(limiter.availablePermits()).isZero();
            RateLimiter soon = one.rateLimiter("soon", RateLimit.tokenBucket(1, Duration.ofMillis(50)));
            assertThat(soon.decide(1, MINUTE).allowed()).isTrue();
            assertThat(soon.decide(1, MINUTE).allowed()).isTrue();
        } finally {
            one.removeListener(listener);
        }
        assertThat(heard).containsExactly("2 true", "1 false", "1 true", "1 true");
    }
}
