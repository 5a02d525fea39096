package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.lock.Acquisition;
import dev.interlock.lock.Form;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Visitor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Waiting on the conditions of a {@link ReentrantReadWriteLock}'s write lock: what the forms of await give up and
 * restore, and how they end. No wait in it returns spuriously: it has no faults, and the oracle returns for nothing
 * else than a signal, a time-out or an interrupt.
 *
 * <p>A writer that waits while it holds the read lock, too, gives up both and gets both back, though the oracle's
 * documentation says that read locks aren't affected. That holds only if nobody reads meanwhile, and is asked for no
 * further: the oracle keeps the hold of the first reader where the next first reader overwrites it.
 */
@SuppressWarnings({
    "LockNotBeforeTry", // The lock is the subject: a test that fails holding it is over.
    "WaitNotInLoop", // That a wait returns for nothing but its reason is the subject, too.
    "JavaUtilDate" // Dates are what awaitUntil takes.
})
abstract class ReadWriteAwaitContract extends ReadWriteQueueContract {

    static final int WRITES = 3;
    private static final int READS = 2;
    static final Duration FOREVER = Form.FOREVER;

    /** A lock object and a condition of it. */
    record End(ReentrantReadWriteLock lock, Condition condition) {
        void signal() {
            lock.writeLock().lock();
            condition.signal();
            lock.writeLock().unlock();
        }

        void signalAll() {
            lock.writeLock().lock();
            condition.signalAll();
            lock.writeLock().unlock();
        }

        void assertWaiters(int waiters) {
            lock.writeLock().lock();
            assertWaitersOfHeldLock(waiters);
            lock.writeLock().unlock();
        }

        void assertWaitersOfHeldLock(int waiters) {
            assertThat(lock.getWaitQueueLength(condition)).as("waiters").isEqualTo(waiters);
            assertThat(lock.hasWaiters(condition)).as("has waiters").isEqualTo(waiters > 0);
        }
    }

    /** One condition: of the lock under test, and of the object through which the contender uses it. */
    record Ends(End here, End there) {
        End of(int index) {
            return index % 2 == 0 ? here : there;
        }
    }

    final Ends newEnds(Contender contender) {
        assumeFalse(deviates(Deviation.NO_CONDITIONS));
        against(contender);
        Condition condition = lock.writeLock().newCondition();
        Condition same = side == lock ? condition : sameCondition(condition, side);
        return new Ends(new End(lock, condition), new End(side, same));
    }

    final void assertLeftClean(Ends ends) {
        ends.here().assertWaiters(0);
        ends.there().assertWaiters(0);
        assertLeftClean(ends.here().lock(), ends.there().lock());
    }

    /**
     * Starts a thread that does something which begins with a wait, with so many holds, which it must have back
     * afterwards. Returns once it waits: nothing else lets another writer in.
     */
    final <T> Running<T> startWaiting(String name, End end, int writes, int reads, Callable<T> wait) {
        CountDownLatch inside = new CountDownLatch(1);
        Running<T> waiter = threads().start(name, () -> {
            hold(end.lock(), writes, reads);
            inside.countDown();
            T result = wait.call();
            assertHolds(end.lock(), writes, reads);
            release(end.lock(), writes, reads);
            assertHolds(end.lock(), 0, 0);
            return result;
        });
        assertThat(Uninterruptibles.awaitUninterruptibly(inside, patience()))
                .as(name + " has entered")
                .isTrue();
        end.lock().writeLock().lock();
        end.lock().writeLock().unlock();
        return waiter;
    }

    final Running<Boolean> startWaiting(String name, End end, Form form) {
        return startWaiting(name, end, 1, 0, () -> form.on(end.condition(), FOREVER));
    }

    static void hold(ReentrantReadWriteLock lock, int writes, int reads) {
        for (int hold = 0; hold < writes; hold++) {
            lock.writeLock().lock();
        }
        for (int hold = 0; hold < reads; hold++) {
            lock.readLock().lock();
        }
    }

    static void release(ReentrantReadWriteLock lock, int writes, int reads) {
        for (int hold = 0; hold < reads; hold++) {
            lock.readLock().unlock();
        }
        for (int hold = 0; hold < writes; hold++) {
            lock.writeLock().unlock();
        }
    }

    final Stream<Arguments> contendersAndForms() {
        return contendersWith(Form.ALL.toArray());
    }

    final Stream<Arguments> contendersAndInterruptibleForms() {
        return contendersWith(Form.PLAIN, Form.NANOS, Form.TIME, Form.UNTIL);
    }

    final Stream<Arguments> contendersAndTimedForms() {
        return contendersWith(Form.NANOS, Form.TIME, Form.UNTIL);
    }

    @ParameterizedTest
    @MethodSource("contendersAndForms")
    @DisplayName("await gives up all holds, of the read lock, too, waits for the signal, and has them again on return")
    void awaitGivesUpAllHolds(Contender contender, Form form) {
        for (int reads : new int[] {0, READS}) {
            Ends ends = newEnds(contender);
            AtomicBoolean signalled = new AtomicBoolean();
            Running<Boolean> waiter = startWaiting(
                    "waiter",
                    ends.here(),
                    WRITES,
                    reads,
                    () -> form.on(ends.here().condition(), FOREVER) && signalled.get());

            if (reads == 0) {
                assertNotYet(waiter);
            }
            assertFree(ends.here().lock());
            hold(ends.there().lock(), 2, 0);
            assertHolds(ends.there().lock(), 2, 0);
            ends.there().assertWaitersOfHeldLock(1);
            signalled.set(true);
            ends.there().condition().signal();
            ends.there().assertWaitersOfHeldLock(0);
            release(ends.there().lock(), 2, 0);

            assertThat(waiter.result()).as("returned after the signal").isTrue();
            assertLeftClean(ends);
        }
    }

    @ParameterizedTest
    @MethodSource("contendersAndForms")
    @DisplayName(
            "readers come and go while a writer waits on a condition, and keep it from returning when it's signalled")
    void readersEnterDuringAwait(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        AtomicBoolean left = new AtomicBoolean();
        Running<Boolean> waiter = startWaiting(
                "waiter", ends.here(), WRITES, 0, () -> form.on(ends.here().condition(), FOREVER) && left.get());
        hold(ends.here().lock(), View.READ).leave();

        // Since it may read what it has written before others write.
        hold(ends.there().lock(), 1, 1);
        ends.there().condition().signal();
        ends.there().lock().writeLock().unlock();
        assertNotYet(waiter);
        left.set(true);
        ends.there().lock().readLock().unlock();

        assertThat(waiter.result()).as("returned after the reader left").isTrue();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("without the write lock waiting and signalling throw IllegalMonitorStateException and change nothing")
    void needsWriteLock(Contender contender) {
        Ends ends = newEnds(contender);
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), Form.PLAIN);
        assertRefusedWithoutLock(ends);

        Visitor holder = hold(ends.there().lock(), View.WRITE);
        assertRefusedWithoutLock(ends);
        holder.leave();
        ends.here().lock().readLock().lock();
        assertRefusedWithoutLock(ends);
        assertHolds(ends.here().lock(), 0, 1);
        ends.here().lock().readLock().unlock();

        assertNotYet(waiter);
        ends.there().assertWaiters(1);
        ends.there().signal();
        waiter.result();
        assertLeftClean(ends);
    }

    private static void assertRefusedWithoutLock(Ends ends) {
        for (Condition condition : List.of(ends.here().condition(), ends.there().condition())) {
            for (Form form : Form.ALL) {
                assertThatThrownBy(() -> form.on(condition, FOREVER)).isInstanceOf(IllegalMonitorStateException.class);
            }
            assertThatThrownBy(condition::signal).isInstanceOf(IllegalMonitorStateException.class);
            assertThatThrownBy(condition::signalAll).isInstanceOf(IllegalMonitorStateException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("contendersAndTimedForms")
    @DisplayName("a wait ends when its time is over, not earlier, with all holds; it's no longer there to be signalled")
    void awaitTimesOut(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), WRITES, READS, () -> {
            long begin = System.nanoTime();
            boolean signalled = form.on(ends.here().condition(), shortWait());
            // Wall-clock deadlines are in milliseconds.
            assertThat(System.nanoTime() - begin)
                    .as("nanos waited")
                    .isGreaterThanOrEqualTo(shortWait().minusMillis(1).toNanos());
            return signalled;
        });

        assertThat(waiter.result()).as("signalled").isFalse();

        ends.there().assertWaiters(0);
        Running<Boolean> next = startWaiting("next", ends.here(), Form.PLAIN);
        ends.there().signal();
        next.result();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @EnumSource(names = {"NANOS", "TIME", "UNTIL"})
    @DisplayName("without time to wait, await returns at once, unsignalled, with all holds")
    void awaitMayHaveNoTime(Form form) throws InterruptedException {
        End end = newEnds(Contender.SAME_OBJECT).here();
        hold(end.lock(), WRITES, READS);

        for (Duration time : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(-1))) {
            assertThat(form.on(end.condition(), time)).as("%s", time).isFalse();
            assertHolds(end.lock(), WRITES, READS);
        }

        end.assertWaitersOfHeldLock(0);
        release(end.lock(), WRITES, READS);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNINTERRUPTIBLY")
    @DisplayName("with the interrupt flag set await throws before it gives up anything, and clears the flag")
    void interruptFlagForbidsWait(Form form) {
        End end = newEnds(Contender.SAME_OBJECT).here();
        hold(end.lock(), WRITES, READS);
        Visitor writer = queue("writer", end.lock(), View.WRITE, Acquisition.LOCK);

        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> form.on(end.condition(), FOREVER)).isExactlyInstanceOf(InterruptedException.class);

        assertThat(Thread.interrupted()).as("flag").isFalse();
        assertHolds(end.lock(), WRITES, READS);
        end.assertWaitersOfHeldLock(0);
        assertThat(writer.isIn()).isFalse();
        release(end.lock(), WRITES, READS);
        writer.leave();
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleForms")
    @DisplayName(
            "an interrupted waiter throws when it has all its holds again, not before writers and readers have left")
    void interruptEndsAwait(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        AtomicBoolean released = new AtomicBoolean();
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), WRITES, 0, () -> {
            assertThatThrownBy(() -> form.on(ends.here().condition(), FOREVER))
                    .isExactlyInstanceOf(InterruptedException.class);
            assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
            return released.get();
        });
        hold(ends.there().lock(), 1, 1);

        waiter.thread().interrupt();
        await("the end of its wait")
                .pollInSameThread()
                .untilAsserted(() -> ends.there().assertWaitersOfHeldLock(0));
        ends.there().lock().writeLock().unlock();
        assertNotYet(waiter);
        released.set(true);
        ends.there().lock().readLock().unlock();

        assertThat(waiter.result()).as("returned after the release").isTrue();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "awaitUninterruptibly waits on however often it's interrupted, and returns with all holds and the flag set")
    void interruptDoesNotEndUninterruptibleWait(Contender contender) {
        Ends ends = newEnds(contender);
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), WRITES, READS, () -> {
            ends.here().condition().awaitUninterruptibly();
            return Thread.currentThread().isInterrupted();
        });

        for (int interrupts = 0; interrupts < 2; interrupts++) {
            waiter.thread().interrupt();
            assertNotYet(waiter);
        }
        ends.there().assertWaiters(1);
        ends.there().signal();

        assertThat(waiter.result()).as("flag").isTrue();
        assertLeftClean(ends);
    }
}
