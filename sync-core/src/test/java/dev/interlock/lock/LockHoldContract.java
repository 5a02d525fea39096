package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.testing.Visitors.Visitor;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Holding a {@link ReentrantLock}: acquiring it free or again, counting holds, releasing, and what it tells of itself.
 */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class LockHoldContract extends LockFixture {

    private static final int DEEP = 1_000;

    @Test
    @DisplayName("a new lock is free and nobody waits for it")
    void startsFree() {
        assertFree(lock);
        assertNobodyQueued(lock);
    }

    @Test
    @DisplayName("isFair() tells the policy the lock was made with")
    void tellsFairness() {
        assertThat(newLock().isFair()).isEqualTo(fair());
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("every way to acquire takes a free lock, once, for the calling thread")
    void acquiresFreeLock(Acquisition way) throws InterruptedException {
        assertThat(way.on(lock)).isTrue();

        assertHeldHere(lock, 1);
        assertNobodyQueued(lock);
        lock.unlock();
        assertFree(lock);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("a lock can be taken and released again and again, each time with one hold")
    void isReusable(Acquisition way) throws InterruptedException {
        for (int cycle = 0; cycle < 50; cycle++) {
            assertThat(way.on(lock)).isTrue();
            assertHeldHere(lock, 1);
            lock.unlock();
            assertFree(lock);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -1, Long.MIN_VALUE, 1, Long.MAX_VALUE})
    @DisplayName("timed tryLock takes a free lock whatever the timeout")
    void timedTryLockTakesFreeLock(long timeout) throws InterruptedException {
        for (TimeUnit unit : List.of(TimeUnit.NANOSECONDS, TimeUnit.SECONDS, TimeUnit.DAYS)) {
            ReentrantLock lock = newLock();

            assertThat(lock.tryLock(timeout, unit)).as("%d %s", timeout, unit).isTrue();

            assertHeldHere(lock, 1);
            lock.unlock();
            assertFree(lock);
        }
    }

    @Test
    @DisplayName("timed tryLock without a unit throws NullPointerException and changes nothing")
    void timedTryLockNeedsUnit() {
        assertThatThrownBy(() -> tryLockWithoutUnit(lock)).isInstanceOf(NullPointerException.class);
        assertFree(lock);

        lock.lock();
        assertThatThrownBy(() -> tryLockWithoutUnit(lock)).isInstanceOf(NullPointerException.class);
        assertHeldHere(lock, 1);
        lock.unlock();
        assertObtainable(lock);
    }

    @SuppressWarnings("NullAway")
    private static void tryLockWithoutUnit(ReentrantLock lock) throws InterruptedException {
        lock.tryLock(1, null);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("the owner enters again at once, every hold is counted, and the last release frees")
    void isReentrant(Acquisition way) throws InterruptedException {
        for (int holds = 1; holds <= DEEP; holds++) {
            assertThat(way.on(lock)).isTrue();
            assertHeldHere(lock, holds);
        }
        for (int holds = DEEP; holds > 0; holds--) {
            assertHeldHere(lock, holds);
            lock.unlock();
        }
        assertFree(lock);
        assertObtainable(lock);
    }

    @Test
    @DisplayName("holds taken in different ways add up in one count")
    void mixesWaysToReenter() throws InterruptedException {
        Acquisition[] ways = Acquisition.values();

        for (int holds = 1; holds <= 40; holds++) {
            assertThat(ways[holds % ways.length].on(lock)).isTrue();
            assertHeldHere(lock, holds);
        }
        assertThat(lock.tryLock(0, TimeUnit.SECONDS)).isTrue();
        assertThat(lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS)).isTrue();
        assertHeldHere(lock, 42);
        for (int holds = 42; holds > 0; holds--) {
            assertHeldHere(lock, holds);
            lock.unlock();
        }
        assertFree(lock);
    }

    @Test
    @DisplayName("two locks have nothing to do with each other")
    void isIndependent() {
        ReentrantLock another = newLock();

        lock.lock();

        assertFree(another);
        assertObtainable(another);
        assertThatThrownBy(another::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertHeldHere(lock, 1);
        lock.unlock();
    }

    @Test
    @DisplayName("to any other thread the lock is locked, with an owner, but not held")
    void holdsBelongToThread() {
        Visitor holder = hold(lock);

        assertThat(lock.isLocked()).isTrue();
        assertThat(LockProbe.owner(lock)).isSameAs(holder.thread());
        assertNotHeldHere(lock);

        holder.leave();
        assertFree(lock);
    }

    @Test
    @DisplayName("unlock() without a hold throws IllegalMonitorStateException and leaves a usable lock")
    void unlockNeedsHold() {
        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        if (lock instanceof DistributedReentrantLock) {
            assertThatThrownBy(lock::unlock).hasMessageContaining("isn't held by the current thread");
        }

        assertFree(lock);
        assertObtainable(lock);
    }

    @Test
    @DisplayName("one unlock() too many throws IllegalMonitorStateException and leaves a usable lock")
    void unlockOnceTooOften() {
        lock.lock();
        lock.lock();
        lock.unlock();
        lock.unlock();

        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);

        assertFree(lock);
        assertObtainable(lock);
        lock.lock();
        assertHeldHere(lock, 1);
        lock.unlock();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("unlock() by anyone but the owner throws IllegalMonitorStateException, and the owner keeps its hold")
    void unlockNeedsOwner(Contender contender) {
        Visitor holder = heldBy(contender);

        assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);

        assertThat(lock.tryLock()).isFalse();
        holder.leave();
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the guarded unlock, if (isHeldByCurrentThread()) unlock(), releases for the owner only")
    void guardedUnlock(Contender contender) {
        Visitor holder = heldBy(contender);

        unlockIfHeld(lock);
        assertThat(lock.tryLock()).isFalse();
        holder.leave();

        lock.lock();
        unlockIfHeld(lock);
        unlockIfHeld(lock);
        assertFree(lock);
        assertObtainable(sideOf(contender, lock));
    }

    private static void unlockIfHeld(ReentrantLock lock) {
        if (lock.isHeldByCurrentThread()) {
            lock.unlock();
        }
    }

    @Test
    @DisplayName("an exception leaves the critical section as it is, and finally releases the lock")
    void criticalSectionThrows() {
        IllegalStateException failure = new IllegalStateException("in the critical section");

        assertThatThrownBy(() -> {
                    lock.lock();
                    try {
                        throw failure;
                    } finally {
                        lock.unlock();
                    }
                })
                .isSameAs(failure);

        assertFree(lock);
        assertObtainable(lock);
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("a hold beyond the maximum throws Error and isn't counted")
    void holdCountDoesNotOverflow(Acquisition way) {
        lock.lock();
        LockProbe.setHoldCount(lock, Integer.MAX_VALUE);

        assertThatThrownBy(() -> way.on(lock))
                .isExactlyInstanceOf(Error.class)
                .hasMessage("Maximum lock count exceeded");

        assertHeldHere(lock, Integer.MAX_VALUE);
        lock.unlock();
        assertHeldHere(lock, Integer.MAX_VALUE - 1);
        LockProbe.setHoldCount(lock, 1);
        lock.unlock();
        assertFree(lock);
        assertObtainable(lock);
    }

    @Test
    @DisplayName("toString() identifies the lock and tells its state and its owner")
    void describesItself() {
        assertDescribed(lock, "[Unlocked]");
        Visitor holder = hold(lock);
        assertDescribed(lock, "[Locked by thread " + holder.thread().getName() + "]");
        holder.leave();
        assertDescribed(lock, "[Unlocked]");
    }

    @Test
    @DisplayName("a deserialized lock is free, as fair as its original, and independent of it")
    void isSerializable() throws IOException, ClassNotFoundException {
        lock.lock();

        copy(lock).ifPresent(copy -> {
            assertThat(copy.isFair()).isEqualTo(fair());
            assertFree(copy);
            assertObtainable(copy);
        });

        assertHeldHere(lock, 1);
        lock.unlock();
    }
}
