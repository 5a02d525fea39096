package dev.interlock.input;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LeaseLostException;
import dev.interlock.LockOptions;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.testing.Crew;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;

/** Bad arguments get an error that names the argument and its range, and nothing stays held. */
class InputTest extends TwoConnections {

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @Test
    void nameMustBeGiven() {
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.lock(none()))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.lock(""))
                .withMessageContaining("name")
                .withMessageContaining("empty");
    }

    /** A lock has the key of its name, which must be none of those in which other locks are kept. */
    @ParameterizedTest
    @ValueSource(strings = {"interlock:{a}:rw", "interlock:{a}:queue", "interlock:queue:{a}", "interlock:{"})
    void nameMustNotBeAKeyOfAnotherLock(String name) {
        try (Interlock within = Interlock.builder()
                .namespace("interlock")
                .uri(RedisServer.provided().url())
                .open()) {
            List<ThrowingCallable> all = List.of(
                    () -> interlock.lock(name),
                    () -> interlock.fairLock(name),
                    () -> interlock.lock(name, LockOptions.retain(Duration.ofSeconds(1))),
                    () -> within.lock(name.substring("interlock:".length())));
            assertThat(all)
                    .allSatisfy(call -> assertThatIllegalArgumentException()
                            .isThrownBy(call)
                            .withMessageContaining("name must not begin with 'interlock:'")
                            .withMessageContaining("'" + name + "'"));
        }
        assertThat(interlock.lock("interlock:a").isLocked()).isFalse();
        assertThat(interlock.semaphore(keyspace.name(name), 1).availablePermits())
                .isEqualTo(1);
    }

    /**
     * Half a surrogate pair has no form in UTF-8: Redis would take it for a question mark, and for all other halves.
     */
    @Test
    void nameMustBeText() {
        List<ThrowingCallable> all = List.of(
                () -> interlock.lock("\ud800"),
                () -> interlock.fairLock("a\udc00b"),
                () -> interlock.readWriteLock("\ud800"),
                () -> interlock.semaphore("\ud800", 1),
                () -> interlock.countDownLatch("\ud800", 1),
                () -> interlock.cyclicBarrier("\ud800", 1),
                () -> interlock.rateLimiter("\ud800", RateLimit.fixedWindow(1, Duration.ofSeconds(1))),
                () -> interlock.lock("any").newCondition("\ud800"));
        assertThat(all)
                .allSatisfy(call -> assertThatIllegalArgumentException()
                        .isThrownBy(call)
                        .withMessageContaining("ame must be text")
                        .withMessageContaining("surrogate"));
    }

    /**
     * Any other name will do, however odd it is: the lock works across sessions, and is told apart from its neighbours.
     */
    @ParameterizedTest
    @MethodSource("oddNames")
    void oddNamesAreNames(String odd) throws InterruptedException {
        String name = odd + keyspace.name("odd") + odd;
        DistributedReentrantLock lock = interlock.lock(name);
        DistributedReentrantLock rival = other.lock(name);
        assertThat(lock.getName()).isEqualTo(name);
        lock.lock();
        try {
            assertThat(rival.tryLock()).isFalse();
            assertThat(rival.tryLock(10, TimeUnit.MILLISECONDS)).isFalse();
            DistributedReentrantLock neighbour = other.lock(name + odd + "x");
            assertThat(neighbour.tryLock()).isTrue();
            neighbour.unlock();
        } finally {
            lock.unlock();
        }
        assertThat(rival.tryLock()).isTrue();
        rival.unlock();
    }

    static Stream<String> oddNames() {
        return Stream.of(
                " ",
                "\n",
                "\0",
                "a b  c",
                ":",
                "::1:2:3",
                "{",
                "}",
                "{}",
                "{x}",
                "}{",
                "%s%d",
                "'\"",
                "\\",
                "*?[a-z]",
                "é😀",
                "ß",
                "\u0001\u001b\u007f\u0085\u2028",
                "x".repeat(300));
    }

    /** A pushed grant finds its way under an odd name, too: its message carries the name. */
    @Timely
    @ParameterizedTest
    @MethodSource("oddNames")
    void oddNamesAreGranted(String odd) {
        String name = odd + keyspace.name("odd") + odd;
        DistributedReentrantLock lock = interlock.lock(name);
        var crew = new Crew();
        lock.lock();
        try {
            crew.start(() -> {
                DistributedReentrantLock rival = other.lock(name);
                rival.lock();
                try {
                    rival.assertHeld();
                } finally {
                    rival.unlock();
                }
            });
            await().until(() -> keyspace.waiting(name) == 1);
        } finally {
            lock.unlock();
        }
        long unlocked = System.nanoTime();
        crew.join(Duration.ofSeconds(10));
        assertWithin(Duration.ofMillis(800), Duration.ofNanos(System.nanoTime() - unlocked));
    }

    @ParameterizedTest
    @MethodSource("durations")
    void durationsAreChecked(
            String argument, BiFunction<InterlockBuilder, Duration, InterlockBuilder> setter, Duration least) {
        var tooShort = Stream.of(
                least.minusNanos(1), least.minusMillis(1), Duration.ofNanos(-1), Duration.ofDays(-1), shortest());
        var tooLong = Stream.of(Duration.ofDays(365).plusNanos(1), Duration.ofDays(366), longest());
        Stream.concat(tooShort, tooLong)
                .forEach(bad -> assertThatIllegalArgumentException()
                        .as("%s(%s)", argument, bad)
                        .isThrownBy(() -> setter.apply(Interlock.builder(), bad))
                        .withMessageContaining(argument)
                        .withMessageContaining("from " + least.toMillis() + " ms to 365 days")
                        .withMessageContaining(bad.toString()));
        assertThat(Stream.of(least, Duration.ofDays(365)))
                .allSatisfy(good ->
                        assertThat(setter.apply(Interlock.builder(), good)).isNotNull());
        assertThatNullPointerException()
                .isThrownBy(() -> setter.apply(Interlock.builder(), none()))
                .withMessageContaining(argument);
    }

    static Stream<Arguments> durations() {
        return Stream.of(
                setter("lease", InterlockBuilder::lease, 100),
                setter("handoffSlice", InterlockBuilder::handoffSlice, 0),
                setter("redisTimeout", InterlockBuilder::redisTimeout, 1),
                setter("commandTimeout", InterlockBuilder::commandTimeout, 10));
    }

    private static Arguments setter(
            String argument, BiFunction<InterlockBuilder, Duration, InterlockBuilder> setter, long leastMillis) {
        return Arguments.of(argument, setter, Duration.ofMillis(leastMillis));
    }

    private static Duration shortest() {
        return Duration.ofSeconds(Long.MIN_VALUE);
    }

    private static Duration longest() {
        return Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    }

    /** Both forms that take a lease refuse it before they take anything, whether the lock is held already or not. */
    @ParameterizedTest
    @MethodSource("badLeases")
    void badLeasesAreRefused(long lease, TimeUnit unit) {
        DistributedReentrantLock lock = interlock.lock(keyspace.name("lease"));
        ThrowingCallable[] calls = {
            () -> lock.lock(lease, unit), () -> lock.tryLock(0, lease, unit), () -> lock.tryLock(1, lease, unit)
        };
        for (ThrowingCallable call : calls) {
            assertLeaseRefused(lease, unit, call);
            assertThat(lock.isLocked()).isFalse();
            await("released").until(() -> !lock.isRemotelyLocked());
            assertThat(other.lock(lock.getName()).tryLock()).isTrue();
            other.lock(lock.getName()).unlock();
        }
        lock.lock();
        try {
            for (ThrowingCallable call : calls) {
                assertLeaseRefused(lease, unit, call);
                assertThat(lock.getHoldCount()).isEqualTo(1);
            }
        } finally {
            lock.unlock();
        }
    }

    private static void assertLeaseRefused(long lease, TimeUnit unit, ThrowingCallable call) {
        assertThatIllegalArgumentException()
                .isThrownBy(call)
                .withMessageContaining("lease")
                .withMessageContaining("from 100 ms to 365 days")
                .withMessageContaining(lease + " " + unit);
    }

    static Stream<Arguments> badLeases() {
        return Stream.of(
                Arguments.of(0L, TimeUnit.SECONDS),
                Arguments.of(-1L, TimeUnit.SECONDS),
                Arguments.of(99L, TimeUnit.MILLISECONDS),
                Arguments.of(99_999L, TimeUnit.MICROSECONDS),
                Arguments.of(99_999_999L, TimeUnit.NANOSECONDS),
                Arguments.of(366L, TimeUnit.DAYS),
                Arguments.of(Long.MAX_VALUE, TimeUnit.DAYS),
                Arguments.of(Long.MAX_VALUE, TimeUnit.MILLISECONDS),
                Arguments.of(Long.MIN_VALUE, TimeUnit.DAYS),
                Arguments.of(Long.MIN_VALUE, TimeUnit.NANOSECONDS));
    }

    /** The shortest and the longest lease are leases. */
    @Test
    void extremeLeasesAreTaken() throws InterruptedException {
        DistributedReentrantLock lock = interlock.lock(keyspace.name("extreme-lease"));
        lock.lock(365, TimeUnit.DAYS);
        try {
            assertThat(keyspace.ownedMillis(lock.getName())).isGreaterThan(TimeUnit.DAYS.toMillis(364));
        } finally {
            lock.unlock();
        }
        assertThat(lock.tryLock(0, 100_000_000, TimeUnit.NANOSECONDS)).isTrue();
        try {
            assertThat(keyspace.ownedMillis(lock.getName())).isLessThanOrEqualTo(100);
        } finally {
            unlockMaybeLost(lock);
        }
    }

    private static void unlockMaybeLost(DistributedReentrantLock lock) {
        try {
            lock.unlock();
        } catch (LeaseLostException e) {
            assertThat(lock.isHeldByCurrentThread()).isFalse(); // 100 ms are soon over
        }
    }

    /** Waits that overflow any clock are for ever, and negative ones ask once, as in the JDK. */
    @Test
    void extremeWaitsAreWaits() throws InterruptedException {
        DistributedReentrantLock lock = interlock.lock(keyspace.name("extreme-wait"));
        DistributedReentrantLock rival = other.lock(lock.getName());
        for (TimeUnit unit : TimeUnit.values()) {
            assertThat(lock.tryLock(Long.MAX_VALUE, unit)).isTrue();
            try {
                assertThat(rival.tryLock(Long.MIN_VALUE, unit)).isFalse();
                assertThat(rival.tryLock(-1, unit)).isFalse();
                assertThat(rival.tryLock(0, unit)).isFalse();
                assertThat(rival.tryLock(Long.MIN_VALUE, Duration.ofDays(1).toNanos(), TimeUnit.NANOSECONDS))
                        .isFalse();
            } finally {
                lock.unlock();
            }
            assertThat(lock.tryLock(Long.MIN_VALUE, unit)).isTrue();
            lock.unlock();
        }
        var crew = new Crew();
        lock.lock();
        try {
            crew.start(() -> waitForEver(rival));
            await().until(() -> keyspace.waiting(lock.getName()) == 1);
        } finally {
            lock.unlock();
        }
        crew.join(Duration.ofSeconds(10));
    }

    private static void waitForEver(DistributedReentrantLock lock) {
        try {
            assertThat(lock.tryLock(Long.MAX_VALUE, TimeUnit.DAYS)).isTrue();
            lock.unlock();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void unitMustBeGiven() {
        DistributedReentrantLock lock = interlock.lock(keyspace.name("unit"));
        ThrowingCallable[] calls = {
            () -> lock.lock(1, none()), () -> lock.tryLock(1, none()), () -> lock.tryLock(1, 1, none())
        };
        for (ThrowingCallable call : calls) {
            assertThatNullPointerException().isThrownBy(call).withMessageContaining("unit");
            assertThat(lock.isLocked()).isFalse();
            assertThat(lock.isRemotelyLocked()).isFalse();
        }
    }

    @Test
    void everythingElseMustBeGiven() {
        DistributedReentrantLock lock = interlock.lock(keyspace.name("null"));
        assertNamed("uri", () -> Interlock.connect(none()));
        assertNamed("client", () -> Interlock.using(none()));
        assertNamed("uri", () -> Interlock.builder().uri(none()));
        assertNamed("client", () -> Interlock.builder().client(none()));
        assertNamed("namespace", () -> Interlock.builder().namespace(none()));
        assertNamed("listener", () -> Interlock.builder().listener(none()));
        assertNamed("nanos", () -> Interlock.builder().ticker(none()));
        assertNamed("wallClock", () -> Interlock.builder().ticker(System::nanoTime, none()));
        assertNamed("lock", () -> interlock.adapt(InputTest.<RLock>none()));
        assertNamed("lock", () -> interlock.adapt(InputTest.<RReadWriteLock>none()));
        assertNamed("listener", () -> lock.onLost(none()));
    }

    private static void assertNamed(String argument, ThrowingCallable call) {
        assertThatNullPointerException().isThrownBy(call).withMessageContaining(argument);
    }

    /** What the compiler's null checks would refuse, and users without them won't. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T none() {
        return null;
    }
}
