package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.interlock.testing.Visitors.Visitor;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
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
        against(contender);
        Visitor holder = hold(side);
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
        against(contender);
        Visitor holder = hold(side);
        Running<Boolean> waiter = threads().start("waiter", () -> {
            Thread.currentThread().interrupt();
            lock.lock();
            assertEnteredInterrupted(lock, holder);
        });
        awaitWaiting(lock, waiter.thread());

        assertThat(waiter.endsWithin(shortWait())).isFalse();
        holder.leave();
        waiter.result();

        assertFree(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("lock() waits on however often it's interrupted, and enters with the interrupt flag set")
    void interruptDoesNotEndLock(Contender contender) {
        against(contender);
        Visitor holder = hold(side);
        Running<Boolean> waiter = threads().start("waiter", () -> {
            lock.lock();
            assertEnteredInterrupted(lock, holder);
        });
        awaitWaiting(lock, waiter.thread());

        for (int interrupts = 0; interrupts < 3; interrupts++) {
            waiter.thread().interrupt();
            assertThat(waiter.endsWithin(shortWait())).isFalse();
        }
        holder.leave();
        waiter.result();

        assertFree(lock);
    }

    private static void assertEnteredInterrupted(ReentrantLock lock, Visitor holder) {
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

    private static void assertThrowsInterrupted(TestThreads.Action acquisition) {
        Thread.currentThread().interrupt();
        assertThatThrownBy(acquisition::run).isExactlyInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).as("flag").isFalse();
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleWaits")
    @DisplayName("an interrupted waiter throws, with the flag cleared, and leaves nothing behind")
    void interruptEndsWait(Contender contender, Acquisition way) {
        against(contender);
        Visitor holder = hold(side);
        Running<Boolean> waiter = threads().start("waiter", () -> {
            assertThatThrownBy(() -> way.on(lock)).isExactlyInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
            assertNotHeldHere(lock);
        });
        awaitWaiting(lock, waiter.thread());

        waiter.thread().interrupt();
        waiter.result();

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
        against(contender);
        Visitor holder = hold(side);
        Running<Boolean> front = threads().start("front", () -> {
            assertThatThrownBy(() -> way.on(lock)).isExactlyInstanceOf(InterruptedException.class);
        });
        awaitWaiting(lock, front.thread());
        List<Running<Boolean>> behind = IntStream.range(0, 2)
                .mapToObj(place -> {
                    ReentrantLock mine = place == 0 ? lock : side;
                    Running<Boolean> waiter = threads().start("behind " + place, () -> {
                        mine.lock();
                        assertThat(holder.isLeaving())
                                .as("let in after the release")
                                .isTrue();
                        mine.unlock();
                    });
                    awaitWaiting(mine, waiter.thread());
                    return waiter;
                })
                .toList();

        front.thread().interrupt();
        front.result();
        behind.forEach(waiter -> assertThat(waiter.endsWithin(shortWait())).isFalse());
        holder.leave();

        behind.forEach(Running::result);
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
        Running<Boolean> waiter = threads().start("waiter", () -> {
            side.lock();
            assertThat(release.getCount()).as("releases to come").isZero();
            side.unlock();
        });
        awaitWaiting(side, waiter.thread());

        Thread.currentThread().interrupt();
        assertHeldHere(lock, 1);
        release.countDown();
        lock.unlock();
        assertThat(Thread.interrupted()).as("flag after unlock()").isTrue();

        waiter.result();
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
        List<Running<Integer>> crowd = IntStream.range(0, THREADS)
                .mapToObj(member -> threads().start("member " + member, () -> {
                    ReentrantLock mine = member % 2 == 0 ? lock : side;
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
                }))
                .toList();

        long deadline = System.nanoTime() + patience().toNanos();
        while (crowd.stream().anyMatch(member -> member.thread().isAlive()) && System.nanoTime() < deadline) {
            crowd.forEach(member -> {
                member.thread().interrupt();
                LockSupport.parkNanos(100_000);
            });
        }
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
