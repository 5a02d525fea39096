package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Visitors.Visitor;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of {@link ReentrantLock}, which every lock that extends it keeps. {@link JdkReentrantLockTest} runs it
 * on the JDK's own class, the oracle. To run it on another, extend this class; the hooks are in {@link LockFixture}.
 *
 * <p>A chain of classes, one per subject: {@linkplain LockHoldContract holding}, {@linkplain LockWaitContract
 * competing}, {@linkplain LockInterruptContract interrupting}, {@linkplain LockQueueContract looking on}, and here the
 * order in which waiters enter. Locks that have conditions run it as part of {@link ConditionContract}.
 */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class LockContract extends LockQueueContract {

    private static final int WAITERS = 6;

    @ParameterizedTest
    @MethodSource("contendersAndWaits")
    @DisplayName("every waiter enters, one at a time; in the order of arrival if the lock is fair")
    void letsWaitersIn(Contender contender, Acquisition way) {
        against(contender);
        Visitor holder = hold(side);
        List<Integer> entered = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger inside = new AtomicInteger();
        List<Running<Boolean>> waiters = new ArrayList<>();
        for (int place = 0; place < WAITERS; place++) {
            int mine = place;
            ReentrantLock through = place % 2 == 0 ? lock : side;
            Running<Boolean> waiter = threads().start("waiter " + place, () -> {
                assertThat(way.on(through)).isTrue();
                assertThat(inside.incrementAndGet()).as("threads inside").isEqualTo(1);
                entered.add(mine);
                inside.decrementAndGet();
                through.unlock();
            });
            awaitWaiting(through, waiter.thread());
            waiters.add(waiter);
        }

        holder.leave();
        waiters.forEach(Running::result);

        List<Integer> arrived = IntStream.range(0, WAITERS).boxed().toList();
        assertThat(entered).containsExactlyInAnyOrderElementsOf(arrived);
        if (fifo(contender)) {
            assertThat(entered).isEqualTo(arrived);
        } else if (fair()) {
            assertThat(entered.stream().filter(place -> place % 2 == 0)).isSorted();
            assertThat(entered.stream().filter(place -> place % 2 == 1)).isSorted();
        }
        assertFree(lock);
        assertNobodyQueued(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersAndWaits")
    @DisplayName("who releases a lock and comes back enters too; after the waiter if the lock is fair")
    void letsReleaserReturn(Contender contender, Acquisition way) throws InterruptedException {
        against(contender);
        List<String> entered = Collections.synchronizedList(new ArrayList<>());
        lock.lock();
        Running<Boolean> waiter = threads().start("waiter", () -> {
            side.lock();
            entered.add("waiter");
            side.unlock();
        });
        awaitWaiting(side, waiter.thread());

        lock.unlock();
        assertThat(way.on(lock)).isTrue();
        entered.add("releaser");
        lock.unlock();
        waiter.result();

        assertThat(entered).containsExactlyInAnyOrder("waiter", "releaser");
        if (fifo(contender)) {
            assertThat(entered).containsExactly("waiter", "releaser");
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("tryLock(0, unit) doesn't overtake the waiters of a fair lock")
    void zeroTimeoutKeepsFairness(Contender contender) throws InterruptedException {
        against(contender);
        CountDownLatch mayLeave = new CountDownLatch(1);
        lock.lock();
        Running<Boolean> waiter = threads().start("waiter", () -> {
            side.lock();
            try {
                mayLeave.await();
            } finally {
                side.unlock();
            }
        });
        awaitWaiting(side, waiter.thread());

        lock.unlock();
        boolean overtaken = lock.tryLock(0, TimeUnit.SECONDS);
        if (overtaken) {
            lock.unlock();
        }
        mayLeave.countDown();
        waiter.result();

        assertThat(overtaken && fifo(contender)).as("overtaken").isFalse();
    }

    @Test
    @DisplayName("tryLock() overtakes waiters, even those of a fair lock, who enter afterwards")
    void tryLockOvertakes() {
        boolean overtaken = false;
        // Who releases the lock competes with the waiter that this wakes: it may lose, but not every time.
        for (int attempt = 0; attempt < 100 && !overtaken; attempt++) {
            AtomicBoolean entered = new AtomicBoolean();
            lock.lock();
            Running<Boolean> waiter = threads().start("waiter", () -> {
                lock.lock();
                entered.set(true);
                lock.unlock();
            });
            awaitWaiting(lock, waiter.thread());

            lock.unlock();
            if (lock.tryLock()) {
                overtaken = !entered.get();
                lock.unlock();
            }
            waiter.result();
            assertThat(entered).isTrue();
        }

        assertThat(overtaken || deviates(Deviation.TRYLOCK_MAY_NOT_BARGE))
                .as("overtaken")
                .isTrue();
    }
}
