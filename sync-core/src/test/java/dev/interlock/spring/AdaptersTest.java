package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Locks of Spring Integration and ShedLock exclude all sessions. */
class AdaptersTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final RedisServer REDIS = RedisServer.launch();
    private static final Interlock FIRST = Interlock.connect(REDIS.url());
    private static final Interlock SECOND = Interlock.connect(REDIS.url());

    private final InterlockLockProvider first = new InterlockLockProvider(FIRST);
    private final InterlockLockProvider second = new InterlockLockProvider(SECOND);

    @AfterAll
    static void close() {
        FIRST.close();
        SECOND.close();
        REDIS.close();
    }

    private static LockConfiguration job(String name, Duration atMost, Duration atLeast) {
        return new LockConfiguration(Instant.now(), name, atMost, atLeast);
    }

    @Test
    void aKeyOfARegistryIsOneLockInAllSessions() throws InterruptedException {
        var here = new InterlockLockRegistry(FIRST, "files:");
        var there = new InterlockLockRegistry(SECOND, "files:");
        here.executeLocked(4711, () -> {
            assertThat(FIRST.lock("files:4711").isHeldByCurrentThread()).isTrue();
            assertThat(there.obtain(4711).tryLock()).isFalse();
            assertThat(there.obtain("4712").tryLock()).isTrue();
        });
        there.obtain("4712").unlock();
        assertThat(there.obtain("4711").tryLock()).isTrue();
        there.obtain("4711").unlock();
    }

    @Test
    void aLockOfShedLockIsFreeWhenItIsUnlocked() {
        Optional<SimpleLock> lock = first.lock(job("free", HOUR, Duration.ZERO));
        assertThat(lock).isPresent();
        assertThat(first.lock(job("free", HOUR, Duration.ZERO))).isEmpty();
        assertThat(second.lock(job("free", HOUR, Duration.ZERO))).isEmpty();
        lock.orElseThrow().unlock();
        Optional<SimpleLock> next = second.lock(job("free", HOUR, Duration.ZERO));
        assertThat(next).isPresent();
        next.orElseThrow().unlock();
    }

    @Test
    void anyThreadUnlocksALockOfShedLock() {
        SimpleLock lock = first.lock(job("passed on", HOUR, Duration.ZERO)).orElseThrow();
        try (var other = new Actor("other")) {
            other.run(lock::unlock);
        }
        assertThat(second.lock(job("passed on", HOUR, Duration.ZERO))).isPresent();
    }

    @Test
    void aRunExtendsItsLock() {
        Duration most = Duration.ofSeconds(20);
        new DefaultLockingTaskExecutor(first)
                .executeWithLock(
                        (Runnable) () -> {
                            LockExtender.extendActiveLock(HOUR, Duration.ZERO);
                            assertThat((Long) REDIS.command("PTTL", "shedlock:extended"))
                                    .isGreaterThan(most.toMillis());
                            assertThat(second.lock(job("extended", HOUR, Duration.ZERO)))
                                    .isEmpty();
                        },
                        job("extended", most, Duration.ZERO));
        assertThat(second.lock(job("extended", HOUR, Duration.ZERO))).isPresent();
    }

    @Test
    void aLockOfShedLockIsHeldForAtLeastItsTime() {
        first.lock(job("least", HOUR, HOUR)).orElseThrow().unlock();
        assertThat(first.lock(job("least", HOUR, HOUR))).isEmpty();
        assertThat(second.lock(job("least", HOUR, HOUR))).isEmpty();
    }

    /** Of the run that has begun, whatever the next one states. */
    @Test
    void theLeastTimeIsThatOfTheHolder() {
        first.lock(job("whose", HOUR, HOUR)).orElseThrow().unlock();
        assertThat(first.lock(job("whose", HOUR, Duration.ZERO))).isEmpty();
        assertThat(second.lock(job("whose", HOUR, Duration.ZERO))).isEmpty();
        await().during(Duration.ofMillis(200)).until(() -> true);
        assertThat(second.lock(job("whose", HOUR, Duration.ofMillis(100)))).isEmpty();

        first.lock(job("none", HOUR, Duration.ZERO)).orElseThrow().unlock();
        assertThat(second.lock(job("none", HOUR, HOUR))).isPresent();
    }

    /** The most that there can be: half a year, and no whole number of steps. */
    @Test
    void theLeastTimeIsAsLongAsOneLikes() {
        Duration longest = Duration.ofDays(364).plusMillis(3);
        first.lock(job("long", Duration.ofDays(365), longest)).orElseThrow().unlock();
        assertThat(second.lock(job("long", HOUR, Duration.ZERO))).isEmpty();
        assertThat((Long) REDIS.command("PTTL", "interlock:{shedlock:long}:rate"))
                .isGreaterThan(longest.toMillis() - 60_000);
    }

    /** As ShedLock has it: the run that takes too long isn't told. */
    @Test
    void aLockOfShedLockIsHeldForAtMostItsTime() {
        Duration most = Duration.ofMillis(100);
        try (var runner = new Actor("runner")) {
            SimpleLock lock = runner.get(() -> first.lock(job("most", most, Duration.ofNanos(1))))
                    .orElseThrow();
            await().untilAsserted(() -> {
                Optional<SimpleLock> next = second.lock(job("most", HOUR, Duration.ZERO));
                assertThat(next).isPresent();
                next.orElseThrow().unlock();
            });
            assertThatCode(() -> runner.run(lock::unlock)).doesNotThrowAnyException();
        }
    }

    /** Its thread, which begins another run, isn't kept out by the one that it hasn't ended. */
    @Test
    void aRunThatIsOverKeepsItsOwnThreadOutNoLonger() {
        Duration most = Duration.ofMillis(100);
        SimpleLock over = first.lock(job("again", most, Duration.ZERO)).orElseThrow();
        await().until(() -> !REDIS.keys().contains("shedlock:again"));
        SimpleLock next = await("its local end")
                .until(() -> first.lock(job("again", HOUR, Duration.ZERO)), Optional::isPresent)
                .orElseThrow();
        over.unlock();
        assertThat(second.lock(job("again", HOUR, Duration.ZERO))).isEmpty();
        next.unlock();
        assertThat(second.lock(job("again", HOUR, Duration.ZERO))).isPresent();
    }
}
