package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;

/**
 * The behaviour that Spring Integration's tests expect of each registry of locks, of its own
 * {@link DefaultLockRegistry} first.
 */
class LockRegistryTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration BRIEFLY = Duration.ofMillis(50);
    private static final RedisServer REDIS = RedisServer.launch();
    private static final Interlock FIRST = Interlock.connect(REDIS.url());
    private static final Interlock SECOND = Interlock.connect(REDIS.url());

    /** Two registries whose locks of one key exclude each other; those of the first are used by this thread. */
    private record Fleet(String name, LockRegistry<? extends Lock> here, LockRegistry<? extends Lock> there) {
        @Override
        public String toString() {
            return name;
        }
    }

    private Actor other;

    static List<Fleet> fleets() {
        var springs = new DefaultLockRegistry();
        var mine = new InterlockLockRegistry(FIRST, "mine:");
        return List.of(
                new Fleet("Spring's own", springs, springs),
                new Fleet("one session", mine, new InterlockLockRegistry(FIRST, "mine:")),
                new Fleet("two sessions", mine, new InterlockLockRegistry(SECOND, "mine:")));
    }

    @BeforeEach
    void begin() {
        other = new Actor("other");
    }

    @AfterEach
    void end() {
        other.close();
    }

    @AfterAll
    static void close() {
        FIRST.close();
        SECOND.close();
        REDIS.close();
    }

    private boolean isFreeThere(Fleet fleet, String key) {
        return other.get(() -> {
            Lock lock = fleet.there.obtain(key);
            boolean isFree = lock.tryLock(0, TimeUnit.SECONDS);
            if (isFree) {
                lock.unlock();
            }
            return isFree;
        });
    }

    private void assertIsFreeThere(Fleet fleet, String key) {
        // A session may keep a name for a moment.
        Awaitility.await().atMost(PATIENCE).until(() -> isFreeThere(fleet, key));
    }

    @ParameterizedTest
    @MethodSource("fleets")
    void locksExcludeOtherThreadsUntilTheyAreUnlocked(Fleet fleet) throws InterruptedException {
        for (int i = 0; i < 10; i++) {
            Lock lock = fleet.here.obtain("plain");
            lock.lockInterruptibly();
            assertThat(isFreeThere(fleet, "plain")).isFalse();
            lock.unlock();
            assertIsFreeThere(fleet, "plain");
        }
    }

    @ParameterizedTest
    @MethodSource("fleets")
    void locksAreReentrant(Fleet fleet) {
        fleet.here.obtain("again").lock();
        Lock same = fleet.here.obtain("again");
        assertThat(same.tryLock()).isTrue();
        same.unlock();
        assertThat(isFreeThere(fleet, "again")).isFalse();
        same.unlock();
        assertIsFreeThere(fleet, "again");
    }

    @ParameterizedTest
    @MethodSource("fleets")
    void locksOfDifferentKeysAreIndependent(Fleet fleet) {
        Lock one = fleet.here.obtain("one");
        Lock two = fleet.here.obtain("two");
        one.lock();
        assertIsFreeThere(fleet, "two");
        two.lock();
        one.unlock();
        assertThat(isFreeThere(fleet, "two")).isFalse();
        assertIsFreeThere(fleet, "one");
        two.unlock();
    }

    @ParameterizedTest
    @MethodSource("fleets")
    void equalKeysHaveOneLock(Fleet fleet) {
        Lock lock = fleet.here.obtain(String.join("", "k", "ey"));
        assertThat(fleet.here.obtain("key")).isSameAs(lock);
        assertThat(fleet.here.obtain("other key")).isNotSameAs(lock);
    }

    @ParameterizedTest
    @MethodSource("fleets")
    void aSecondThreadWaitsForTheFirst(Fleet fleet) {
        Lock lock = fleet.here.obtain("second");
        lock.lock();
        CompletableFuture<Boolean> second = other.begin(() -> {
            Lock same = fleet.there.obtain("second");
            same.lockInterruptibly();
            same.unlock();
        });
        assertThat(second.isDone()).isFalse();
        lock.unlock();
        assertThat(second).succeedsWithin(PATIENCE);
    }

    @ParameterizedTest
    @MethodSource("fleets")
    void aThreadThatDoesNotHoldALockCannotUnlockIt(Fleet fleet) {
        Lock lock = fleet.here.obtain("wrong");
        lock.lock();
        assertThatThrownBy(() -> other.run(() -> fleet.there.obtain("wrong").unlock()))
                .isInstanceOf(IllegalMonitorStateException.class);
        assertThat(isFreeThere(fleet, "wrong")).isFalse();
        lock.unlock();
        assertIsFreeThere(fleet, "wrong");
    }

    @ParameterizedTest
    @MethodSource("fleets")
    void aTaskThatDoesNotGetItsLockInTimeIsNotRun(Fleet fleet) throws InterruptedException {
        Lock lock = fleet.here.obtain("task");
        lock.lockInterruptibly();
        CompletableFuture<Boolean> late = other.ask(() -> {
            fleet.there.executeLocked("task", BRIEFLY, () -> Assertions.fail("the lock is held"));
            return true;
        });
        assertThat(late)
                .failsWithin(PATIENCE)
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(TimeoutException.class);
        lock.unlock();
        assertIsFreeThere(fleet, "task");
    }
}
