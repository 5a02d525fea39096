package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Visitor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
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
        Visitor holder = heldBy(contender);
        List<Integer> entered = Collections.synchronizedList(new ArrayList<>());
        List<Visitor> waiters = new ArrayList<>();
        for (int place = 0; place < WAITERS; place++) {
            int mine = place;
            Visitor waiter = queue("waiter " + place, place % 2 == 0 ? lock : side, through -> {
                assertThat(way.on(through)).isTrue();
                return entered.add(mine);
            });
            waiter.letGo();
            waiters.add(waiter);
        }

        holder.leave();
        waiters.forEach(Visitor::leave);

        assertOrder(contender, entered, WAITERS);
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
        Visitor waiter = queue("waiter", side, mine -> {
            mine.lock();
            return entered.add("waiter");
        });
        waiter.letGo();

        lock.unlock();
        assertThat(way.on(lock)).isTrue();
        entered.add("releaser");
        lock.unlock();
        waiter.leave();

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
        lock.lock();
        Visitor waiter = queue("waiter", side, Acquisition.LOCK::on);

        lock.unlock();
        boolean overtaken = lock.tryLock(0, TimeUnit.SECONDS);
        if (overtaken) {
            lock.unlock();
        }
        waiter.leave();

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
            Visitor waiter = queue("waiter", lock, mine -> {
                mine.lock();
                entered.set(true);
                return true;
            });
            waiter.letGo();

            lock.unlock();
            if (lock.tryLock()) {
                overtaken = !entered.get();
                lock.unlock();
            }
            waiter.leave();
            assertThat(entered).isTrue();
        }

        assertThat(overtaken || deviates(Deviation.TRYLOCK_MAY_NOT_BARGE))
                .as("overtaken")
                .isTrue();
    }
}
