package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Outcome;
import dev.interlock.testing.Visitors.Visitor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Competing for a {@link ReentrantLock}: exclusion, waiting, giving up. */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class LockWaitContract extends LockHoldContract {

    private static final int THREADS = 4;

    @ParameterizedTest
    @MethodSource("contendersAndWaits")
    @DisplayName("who finds the lock held waits, and enters after the release")
    void waitsThenEnters(Contender contender, Acquisition way) {
        Visitor holder = heldBy(contender);
        Visitor waiter = queue("waiter", lock, way::on);

        waiter.assertStillWaits();
        holder.leave();
        waiter.leave();

        assertFree(lock);
        assertNobodyQueued(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a reentrant owner lets others in at its last release, not before")
    void onlyLastReleaseFrees(Contender contender) {
        against(contender);
        CountDownLatch lastRelease = new CountDownLatch(1);
        lock.lock();
        lock.lock();
        lock.lock();
        Visitor waiter = queue("waiter", side, mine -> {
            mine.lock();
            assertThat(lastRelease.getCount()).as("releases to come").isZero();
            return true;
        });

        lock.unlock();
        lock.unlock();
        waiter.assertStillWaits();
        assertHeldHere(lock, 1);
        lastRelease.countDown();
        lock.unlock();

        waiter.leave();
        assertNotHeldHere(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("untimed tryLock() fails at once while the lock is held, and succeeds when it's free")
    void tryLockDoesNotWait(Contender contender) {
        Visitor holder = heldBy(contender);

        assertThat(lock.tryLock()).isFalse();
        assertNotHeldHere(lock);
        assertNobodyQueued(lock);

        holder.leave();
        assertTryLockSucceeds(lock, contender);
        lock.unlock();
        assertFree(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("timed tryLock without time to wait fails at once while the lock is held")
    void timedTryLockMayHaveNoTime(Contender contender) throws InterruptedException {
        Visitor holder = heldBy(contender);

        assertInVainWithoutTime(lock::tryLock, () -> {
            assertNotHeldHere(lock);
            assertNobodyQueued(lock);
        });

        holder.leave();
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("timed tryLock gives up after its timeout, not earlier, and leaves nothing behind")
    void timedTryLockTimesOut(Contender contender) throws InterruptedException {
        Visitor holder = heldBy(contender);
        long begin = System.nanoTime();

        boolean entered = Entry.within(shortWait()).into(lock);

        Duration waited = Duration.ofNanos(System.nanoTime() - begin);
        assertThat(entered).isFalse();
        assertThat(waited).isBetween(shortWait(), patience());
        assertNotHeldHere(lock);
        assertNobodyQueued(lock);
        holder.leave();
        assertObtainable(side);
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the longest timeout waits, in whatever unit it's given")
    void timedTryLockMayWaitForEver(Contender contender) {
        against(contender);
        for (TimeUnit unit : List.of(TimeUnit.NANOSECONDS, TimeUnit.DAYS)) {
            Visitor holder = hold(side);
            Visitor waiter = queue("waiter", lock, mine -> mine.tryLock(Long.MAX_VALUE, unit));

            holder.leave();
            waiter.leave();
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a waiter that gives up doesn't stand in the way of those behind it")
    void timedOutWaiterMakesWay(Contender contender) {
        Visitor holder = heldBy(contender);
        CountDownLatch everybodyWaits = new CountDownLatch(1);
        Visitor front = queue("front", lock, mine -> {
            // On a slow machine it may time out before anybody is behind it.
            boolean entered = false;
            while (everybodyWaits.getCount() > 0 && !entered) {
                entered = Entry.within(shortWait().multipliedBy(4)).into(mine);
            }
            return entered;
        });
        Visitor behind = queue("behind", lock, Acquisition.LOCK::on);

        everybodyWaits.countDown();
        front.assertOutcome(Outcome.GAVE_UP);
        behind.assertStillWaits();
        holder.leave();

        behind.leave();
        assertFree(lock);
        assertNobodyQueued(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("critical sections exclude one another, and each sees all that the earlier ones wrote")
    void excludes(Contender contender) {
        against(contender);
        GuardedCells cells = new GuardedCells();
        CountDownLatch start = new CountDownLatch(1);
        Acquisition[] ways = Acquisition.values();
        List<Running<Integer>> crowd = startCrowd(THREADS, lock, side, (member, mine) -> {
            int entries = 0;
            start.await();
            for (int turn = 0; turn < crowd() / THREADS; turn++) {
                if (ways[(member + turn) % ways.length].on(mine)) {
                    try {
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

        start.countDown();
        int entries = crowd.stream().mapToInt(Running::result).sum();

        assertThat(cells.value()).isEqualTo(entries);
        assertFree(lock);
        assertNobodyQueued(lock);
        assertObtainable(side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a thread that dies while it holds the lock keeps it")
    void deadOwnerKeepsLock(Contender contender) throws InterruptedException {
        against(contender);
        Running<Boolean> dying = threads().start("dying", () -> {
            lock.lock();
        });
        dying.result();

        assertThat(dying.thread().isAlive()).isFalse();
        assertThat(lock.isLocked()).isTrue();
        assertThat(LockProbe.owner(lock)).isSameAs(dying.thread());
        assertThat(side.tryLock()).isFalse();
        assertThat(Entry.within(shortWait()).into(side)).isFalse();
        assertThatThrownBy(side::unlock).isInstanceOf(IllegalMonitorStateException.class);
        assertThat(lock.isLocked()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @EnabledForJreRange(min = JRE.JAVA_21)
    @DisplayName("virtual threads exclude one another, each with holds of its own")
    void excludesVirtualThreads(Contender contender) {
        against(contender);
        GuardedCells cells = new GuardedCells();
        int members = 100;
        List<Running<Boolean>> crowd = IntStream.range(0, members)
                .mapToObj(member -> threads().startVirtual(() -> {
                    ReentrantLock mine = member % 2 == 0 ? lock : side;
                    for (int turn = 0; turn < 5; turn++) {
                        mine.lock();
                        assertThat(mine.tryLock()).isTrue();
                        assertHeldHere(mine, 2);
                        cells.advance();
                        mine.unlock();
                        mine.unlock();
                        assertNotHeldHere(mine);
                    }
                }))
                .toList();

        crowd.forEach(Running::result);

        assertThat(cells.value()).isEqualTo(members * 5);
        assertFree(lock);
        assertNobodyQueued(lock);
    }

    /** Plain memory that shows it when two threads work on it at a time, or when one doesn't see what another wrote. */
    static final class GuardedCells {
        private final int[] cells = new int[16];

        @SuppressWarnings("ThreadPriorityCheck") // The invitation to run in between is the point.
        void advance() {
            int before = value();
            for (int cell = 0; cell < cells.length; cell++) {
                if (cell == cells.length / 2) {
                    Thread.yield();
                }
                assertThat(cells[cell]).as("cell written by its owner only").isEqualTo(before);
                cells[cell] = before + 1;
            }
        }

        int value() {
            for (int cell : cells) {
                assertThat(cell).as("cell").isEqualTo(cells[0]);
            }
            return cells[0];
        }
    }
}
