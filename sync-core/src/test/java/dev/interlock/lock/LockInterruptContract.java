package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Visitor;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interrupting those who use a {@link ReentrantLock}. */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class LockInterruptContract extends LockWaitContract {

    private static final int THREADS = 4;

    @ParameterizedTest
    @EnumSource(names = {"LOCK", "TRY_LOCK"})
    @DisplayName("lock() and untimed tryLock() take the lock with the interrupt flag set, and leave it set")
    void ignoresInterruptFlag(Acquisition way) throws InterruptedException {
        Thread.currentThread().interrupt();

        assertThat(way.on(lock)).isTrue();
        assertThat(Thread.currentThread().isInterrupted())
                .as("flag after the first hold")
                .isTrue();
        assertThat(way.on(lock)).isTrue();

        assertThat(Thread.interrupted()).as("flag after the second hold").isTrue();
        assertHeldHere(lock, 2);
        lock.unlock();
        lock.unlock();
        assertFree(lock);
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("untimed tryLock() of a held lock fails with the interrupt flag set, and leaves it set")
    void tryLockOfHeldLockIgnoresInterruptFlag(Contender contender) {
        Visitor holder = heldBy(contender);
        Thread.currentThread().interrupt();

        assertThat(lock.tryLock()).isFalse();

        assertThat(Thread.interrupted()).as("flag").isTrue();
        assertNotHeldHere(lock);
        holder.leave();
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("lock() with the interrupt flag set waits as if it weren't, and enters with the flag set")
    void lockWaitsWithInterruptFlag(Contender contender) {
        Visitor holder = heldBy(contender);
        Running<Boolean> waiter =
                queueUninterruptibly(holder, () -> Thread.currentThread().interrupt());

        assertNotYet(waiter);
        holder.leave();
        waiter.result();

        assertFree(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("lock() waits on however often it's interrupted, and enters with the interrupt flag set")
    void interruptDoesNotEndLock(Contender contender) {
        Visitor holder = heldBy(contender);
        Running<Boolean> waiter = queueUninterruptibly(holder, () -> {});

        for (int interrupts = 0; interrupts < 3; interrupts++) {
            waiter.thread().interrupt();
            assertNotYet(waiter);
        }
        holder.leave();
        waiter.result();

        assertFree(lock);
    }

    /** Lets another thread come by lock(), which has to enter with its interrupt flag set and to leave it set. */
    private Running<Boolean> queueUninterruptibly(Visitor holder, Runnable before) {
        Running<Boolean> waiter = threads().start("waiter", () -> {
            before.run();
            lock.lock();
            assertThat(holder.isLeaving()).as("let in after the release").isTrue();
            assertHeldHere(lock, 1);
            assertThat(Thread.currentThread().isInterrupted())
                    .as("flag after lock()")
                    .isTrue();
            lock.unlock();
            assertThat(Thread.currentThread().isInterrupted())
                    .as("flag after unlock()")
                    .isTrue();
            assertNotHeldHere(lock);
        });
        awaitWaiting(lock, waiter.thread());
        return waiter;
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleWaits")
    @DisplayName(
            "an interruptible acquisition with the interrupt flag set throws, even of a free lock, and clears the flag")
    void interruptFlagForbidsEntry(Contender contender, Acquisition way) {
        against(contender);

        assertThrowsInterrupted(() -> way.on(lock));
        assertFree(lock);
        assertObtainable(side);

        Visitor holder = hold(side);
        assertThrowsInterrupted(() -> way.on(lock));
        assertNotHeldHere(lock);
        assertNobodyQueued(lock);
        holder.leave();
        assertObtainable(lock);
    }

    @ParameterizedTest
    @EnumSource(names = {"LOCK_INTERRUPTIBLY", "TIMED_TRY_LOCK"})
    @DisplayName(
            "an interruptible acquisition with the interrupt flag set throws for the owner too, who keeps its holds")
    void interruptFlagForbidsReentry(Acquisition way) {
        lock.lock();

        assertThrowsInterrupted(() -> way.on(lock));

        assertHeldHere(lock, 1);
        lock.unlock();
        assertFree(lock);
        assertObtainable(lock);
    }

    @Test
    @DisplayName("timed tryLock with the interrupt flag set throws even if it has no time to wait")
    void interruptFlagGoesBeforeTimeout() {
        for (long timeout : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThrowsInterrupted(() -> lock.tryLock(timeout, TimeUnit.NANOSECONDS));
            assertFree(lock);
        }
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleWaits")
    @DisplayName("an interrupted waiter throws, with the flag cleared, and leaves nothing behind")
    void interruptEndsWait(Contender contender, Acquisition way) {
        Visitor holder = heldBy(contender);
        Visitor waiter = queue("waiter", lock, way::on);

        waiter.assertInterruptible();

        assertThat(lock.hasQueuedThread(waiter.thread())).isFalse();
        assertNobodyQueued(lock);
        assertThat(lock.tryLock()).as("while still held").isFalse();
        holder.leave();
        assertObtainable(side);
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleWaits")
    @DisplayName("an interrupted waiter doesn't stand in the way of those behind it")
    void interruptedWaiterMakesWay(Contender contender, Acquisition way) {
        Visitor holder = heldBy(contender);
        Visitor front = queue("front", lock, way::on);
        List<Visitor> behind = List.of(
                queue("behind here", lock, Acquisition.LOCK::on), queue("behind there", side, Acquisition.LOCK::on));

        front.assertInterruptible();
        behind.forEach(Visitor::assertStillWaits);
        behind.forEach(Visitor::letGo);
        holder.leave();

        behind.forEach(Visitor::leave);
        assertFree(lock);
        assertNobodyQueued(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("an interrupt takes nothing from the owner, who releases as ever and keeps the flag set")
    void interruptDoesNotTouchHold(Contender contender) {
        against(contender);
        CountDownLatch release = new CountDownLatch(1);
        lock.lock();
        Visitor waiter = queue("waiter", side, mine -> {
            mine.lock();
            assertThat(release.getCount()).as("releases to come").isZero();
            return true;
        });

        Thread.currentThread().interrupt();
        assertHeldHere(lock, 1);
        release.countDown();
        lock.unlock();
        assertThat(Thread.interrupted()).as("flag after unlock()").isTrue();

        waiter.leave();
        assertNotHeldHere(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "after a storm of interrupts and timeouts nothing was entered twice, and the lock is free for everyone")
    void survivesStorm(Contender contender) {
        assumeFalse(contender == Contender.OTHER_SESSION && deviates(Deviation.STUCK_AFTER_STORM));
        against(contender);
        GuardedCells cells = new GuardedCells();
        List<Running<Integer>> crowd = startCrowd(THREADS, lock, side, (member, mine) -> {
            int entries = 0;
            for (int turn = 0; turn < crowd() / THREADS; turn++) {
                if (entersStorm(mine, turn)) {
                    try {
                        assertHeldHere(mine, 1);
                        cells.advance();
                        entries++;
                    } finally {
                        mine.unlock();
                    }
                }
                assertNotHeldHere(mine);
            }
            return entries;
        });

        interruptUntilDone(crowd);
        int entries = crowd.stream().mapToInt(Running::result).sum();

        assertThat(cells.value()).isEqualTo(entries);
        assertFree(lock);
        assertFree(side);
        assertNobodyQueued(lock);
        assertNobodyQueued(side);
        assertObtainable(lock);
        assertObtainable(side);
    }

    private static boolean entersStorm(ReentrantLock lock, int turn) {
        Acquisition[] ways = Acquisition.values();
        try {
            if (turn % 2 == 0) {
                return ways[turn / 2 % ways.length].on(lock);
            }
            // From hopeless to generous, as measured by a hand-off: 1 ns to 2 ms.
            return lock.tryLock(1L << (turn % 22), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            return false;
        }
    }
}
