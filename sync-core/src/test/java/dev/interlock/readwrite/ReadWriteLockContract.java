package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import dev.interlock.lock.Acquisition;
import dev.interlock.readwrite.View.Conflict;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Visitor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of {@link ReentrantReadWriteLock}, which every lock that extends it keeps.
 * {@link JdkReentrantReadWriteLockTest} runs it on the JDK's own class, the oracle. To run it on another, extend this
 * class; the hooks are in {@link ReadWriteLockFixture}.
 *
 * <p>A chain of classes, one per subject: {@linkplain ReadWriteHoldContract holding}, {@linkplain ReadWriteWaitContract
 * competing}, {@linkplain ReadWriteInterruptContract interrupting}, {@linkplain ReadWriteQueueContract looking on},
 * {@linkplain ReadWriteAwaitContract awaiting} and {@linkplain ReadWriteConditionContract signalling} on conditions,
 * and here the order in which waiters enter, and storms.
 */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class ReadWriteLockContract extends ReadWriteConditionContract {

    private static final int WAITERS = 6;
    private static final int THREADS = 6;

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("every writer that waits enters, one at a time; in the order of arrival if the lock is fair")
    void letsWritersIn(Contender contender, Conflict conflict) {
        Visitor holder = heldBy(contender, conflict.held);
        List<Integer> entered = Collections.synchronizedList(new ArrayList<>());
        List<Visitor> writers = new ArrayList<>();
        for (int place = 0; place < WAITERS; place++) {
            int mine = place;
            ReentrantReadWriteLock through = place % 2 == 0 ? lock : side;
            Visitor writer = visit("writer " + place, through, View.WRITE, view -> {
                view.lock();
                return entered.add(mine);
            });
            writer.letGo();
            awaitWaiting(through, writer.thread());
            writers.add(writer);
        }

        holder.leave();
        writers.forEach(Visitor::leave);

        assertOrder(contender, entered, WAITERS);
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersAndViews")
    @DisplayName("of a mixed queue all enter; if the lock is fair, "
            + "readers together up to the next writer, and those behind it later")
    void letsMixedQueueIn(Contender contender, View held) {
        Visitor holder = heldBy(contender, held);
        // Nobody but a writer waits for readers, and the others wait for that.
        Visitor front = held == View.READ ? queue("front", lock, View.WRITE, Acquisition.LOCK) : holder;
        List<Visitor> first = List.of(
                queue("first reader", lock, View.READ, Acquisition.LOCK),
                queue("second reader", side, View.READ, Acquisition.LOCK_INTERRUPTIBLY),
                queue("third reader", lock, View.READ, Acquisition.TIMED_TRY_LOCK));
        Visitor writer = queue("writer", side, View.WRITE, Acquisition.LOCK);
        List<Visitor> last = List.of(
                queue("fourth reader", lock, View.READ, Acquisition.LOCK),
                queue("fifth reader", side, View.READ, Acquisition.LOCK));

        if (!fifo(contender)) {
            Stream.of(first, List.of(writer), last).flatMap(List::stream).forEach(Visitor::letGo);
        }
        holder.leave();
        front.leave();
        if (fifo(contender)) {
            first.forEach(Visitor::awaitIn);
            last.get(0).assertStillWaits();
            assertThat(last.get(1).isIn()).isFalse();
            assertThat(writer.isIn()).isFalse();
            first.forEach(Visitor::leave);
            writer.awaitIn();
            last.get(0).assertStillWaits();
            assertThat(last.get(1).isIn()).isFalse();
            writer.leave();
            last.forEach(Visitor::awaitIn);
        }
        Stream.of(first, List.of(writer), last).flatMap(List::stream).forEach(Visitor::leave);
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersAndViews")
    @DisplayName("tryLock(0, unit) of either view doesn't overtake those who wait for a fair lock")
    void zeroTimeoutKeepsFairness(Contender contender, View view) throws InterruptedException {
        against(contender);
        lock.writeLock().lock();
        Visitor waiter = queue("waiter", side, View.WRITE, Acquisition.LOCK);

        lock.writeLock().unlock();
        boolean overtaken = view.of(lock).tryLock(0, NANOS);
        if (overtaken) {
            view.of(lock).unlock();
        }
        waiter.leave();

        assertThat(overtaken && fifo(contender)).as("overtaken").isFalse();
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("tryLock() of either view overtakes waiters, even those of a fair lock, who enter afterwards")
    void tryLockOvertakes(View view) {
        boolean overtaken = false;
        // Who releases the lock competes with the waiter that this wakes: it may lose, but not every time.
        for (int attempt = 0; attempt < 100 && !overtaken; attempt++) {
            AtomicBoolean entered = new AtomicBoolean();
            lock.writeLock().lock();
            Visitor waiter = visit("waiter", lock, View.WRITE, mine -> {
                mine.lock();
                entered.set(true);
                return true;
            });
            waiter.letGo();
            awaitWaiting(lock, waiter.thread());

            lock.writeLock().unlock();
            if (view.of(lock).tryLock()) {
                overtaken = !entered.get();
                view.of(lock).unlock();
            }
            waiter.leave();
        }

        assertThat(overtaken || deviates(Deviation.TRYLOCK_MAY_NOT_BARGE))
                .as("overtaken")
                .isTrue();
        assertFree(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "through a storm of interrupts and time-outs no reader meets a writer, and the lock is free afterwards")
    void survivesStorm(Contender contender) {
        assumeFalse(contender == Contender.OTHER_SESSION && deviates(Deviation.STUCK_AFTER_STORM));
        against(contender);
        Ledger ledger = new Ledger(contender == Contender.SAME_OBJECT);
        List<Running<Integer>> crowd = startCrowd(lock, side, ledger, true);

        interruptUntilDone(crowd);
        int writes = crowd.stream().mapToInt(Running::result).sum();

        assertThat(ledger.read()).isEqualTo(writes);
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("readers see all that earlier writers wrote, and nothing by halves")
    void excludes(Contender contender) {
        against(contender);
        Ledger ledger = new Ledger(contender == Contender.SAME_OBJECT);

        int writes = startCrowd(lock, side, ledger, false).stream()
                .mapToInt(Running::result)
                .sum();

        assertThat(ledger.read()).isEqualTo(writes);
        assertLeftClean(lock, side);
    }

    /** Each returns how often it has written. */
    private List<Running<Integer>> startCrowd(
            ReentrantReadWriteLock lock, ReentrantReadWriteLock side, Ledger ledger, boolean stormy) {
        return startCrowd(THREADS, lock, side, (member, mine) -> {
            Random random = new Random(member);
            int writes = 0;
            for (int turn = 0; turn < crowd() / THREADS; turn++) {
                View view = random.nextInt(3) == 0 ? View.WRITE : View.READ;
                if (!enters(view.of(mine), random, stormy)) {
                    assertHolds(mine, 0, 0);
                    continue;
                }
                view.assertHeld(mine, 1);
                if (view == View.WRITE) {
                    ledger.write();
                    writes++;
                    if (turn % 2 == 0) {
                        mine.readLock().lock();
                        mine.writeLock().unlock();
                        view = View.READ;
                    }
                }
                if (view == View.READ) {
                    ledger.read();
                }
                view.of(mine).unlock();
                assertHolds(mine, 0, 0);
            }
            return writes;
        });
    }

    private static boolean enters(Lock view, Random random, boolean stormy) throws InterruptedException {
        try {
            Acquisition[] ways = Acquisition.values();
            if (!stormy || random.nextBoolean()) {
                return ways[random.nextInt(ways.length)].on(view);
            }
            // From hopeless to generous, as measured by a hand-off: 1 ns to 2 ms.
            return view.tryLock(1L << random.nextInt(22), NANOS);
        } catch (InterruptedException e) {
            if (!stormy) {
                throw e;
            }
            return false;
        }
    }

    /**
     * Cells that are written together: who reads them while another writes finds them different. Plain memory is for
     * those who share a lock object, since it's no promise of a lock that what one session has written is seen by
     * another.
     */
    @SuppressWarnings("ThreadPriorityCheck") // The invitation to run in between is the point.
    private static final class Ledger {
        private final AtomicIntegerArray cells = new AtomicIntegerArray(8);
        private final boolean plain;

        Ledger(boolean plain) {
            this.plain = plain;
        }

        void write() {
            int next = read() + 1;
            for (int cell = 0; cell < cells.length(); cell++) {
                if (cell == cells.length() / 2) {
                    Thread.yield();
                }
                if (plain) {
                    cells.setPlain(cell, next);
                } else {
                    cells.set(cell, next);
                }
            }
        }

        int read() {
            int first = get(0);
            Thread.yield();
            for (int cell = 1; cell < cells.length(); cell++) {
                assertThat(get(cell)).as("cell").isEqualTo(first);
            }
            assertThat(get(0)).as("first cell, again").isEqualTo(first);
            return first;
        }

        private int get(int cell) {
            return plain ? cells.getPlain(cell) : cells.get(cell);
        }
    }
}
