package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Visitor;
import java.time.Duration;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Waiting on a condition of a {@link ReentrantLock}: what the forms of await give up and restore, and how they end. */
@SuppressWarnings({
    "LockNotBeforeTry", // The lock is the subject: a test that fails holding it is over.
    "WaitNotInLoop", // That a wait returns for nothing but its reason is the subject, too.
    "JavaUtilDate" // Dates are what awaitUntil takes.
})
abstract class ConditionWaitContract extends LockContract {

    static final int HOLDS = 3;
    static final Duration FOREVER = Form.FOREVER;

    /** A lock object and a condition of it. */
    record End(ReentrantLock lock, Condition condition) {
        void signal() {
            lock.lock();
            condition.signal();
            lock.unlock();
        }

        void signalAll() {
            lock.lock();
            condition.signalAll();
            lock.unlock();
        }

        void assertWaiters(int waiters) {
            lock.lock();
            assertWaitersOfHeldLock(waiters);
            lock.unlock();
        }

        void assertWaitersOfHeldLock(int waiters) {
            assertThat(lock.getWaitQueueLength(condition)).as("waiters").isEqualTo(waiters);
            assertThat(lock.hasWaiters(condition)).as("has waiters").isEqualTo(waiters > 0);
        }

        Collection<?> waitingThreads() {
            lock.lock();
            Collection<?> waiting = LockProbe.waitingThreads(lock, condition);
            lock.unlock();
            return waiting;
        }
    }

    /** One condition: of the lock under test, and of the object through which the contender uses it. */
    record Ends(End here, End there) {
        End of(int index) {
            return index % 2 == 0 ? here : there;
        }
    }

    /**
     * The same as {@code condition}, of the contender's lock object {@code rival}. The conditions of a lock are made in
     * the same order through both objects.
     */
    protected Condition sameCondition(Condition condition, ReentrantLock rival) {
        return rival.newCondition();
    }

    final Ends newEnds(Contender contender) {
        against(contender);
        return newEnds(lock, side);
    }

    final Ends newEnds(ReentrantLock lock, ReentrantLock side) {
        Condition condition = lock.newCondition();
        Condition same = side == lock ? condition : sameCondition(condition, side);
        return new Ends(new End(lock, condition), new End(side, same));
    }

    /**
     * Starts a thread that enters the lock {@code holds} times, and does something that begins with a wait; afterwards
     * it must have its holds back. Returns once it waits: nothing else lets another thread in.
     */
    final <T> Running<T> startWaiting(String name, End end, int holds, Callable<T> wait) {
        CountDownLatch inside = new CountDownLatch(1);
        Running<T> waiter = threads().start(name, () -> {
            for (int hold = 0; hold < holds; hold++) {
                end.lock().lock();
            }
            inside.countDown();
            T result = wait.call();
            assertHeldHere(end.lock(), holds);
            for (int hold = 0; hold < holds; hold++) {
                end.lock().unlock();
            }
            assertNotHeldHere(end.lock());
            return result;
        });
        assertThat(Uninterruptibles.awaitUninterruptibly(inside, patience()))
                .as(name + " has entered")
                .isTrue();
        end.lock().lock();
        end.lock().unlock();
        return waiter;
    }

    final Running<Boolean> startWaiting(String name, End end, Form form) {
        return startWaiting(name, end, 1, () -> {
            form.on(end.condition());
            return true;
        });
    }

    final void assertLeftClean(Ends ends) {
        for (End end : List.of(ends.here(), ends.there())) {
            assertFree(end.lock());
            assertNobodyQueued(end.lock());
            end.assertWaiters(0);
            assertObtainable(end.lock());
        }
    }

    final Stream<Arguments> contendersAndForms() {
        return contendersWith(Form.ALL.toArray());
    }

    final Stream<Arguments> contendersAndTimedForms() {
        return contendersWith(Form.NANOS, Form.TIME, Form.UNTIL);
    }

    @ParameterizedTest
    @MethodSource("contendersAndForms")
    @DisplayName("every form of await gives up all holds, waits for the signal, and has all holds again on return")
    void awaitGivesUpAllHolds(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        AtomicBoolean signalled = new AtomicBoolean();
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), HOLDS, () -> {
            form.on(ends.here().condition());
            return signalled.get();
        });

        assertNotYet(waiter);
        assertFree(ends.here().lock());
        ends.there().lock().lock();
        assertHeldHere(ends.there().lock(), 1);
        signalled.set(true);
        ends.there().condition().signal();
        ends.there().lock().unlock();

        assertThat(waiter.result()).as("returned after the signal").isTrue();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a thread may wait again and again, with other holds each time")
    void awaitIsRepeatable(Contender contender) {
        Ends ends = newEnds(contender);

        for (int holds = 1; holds <= 20; holds++) {
            End mine = ends.of(holds);
            Running<Boolean> waiter = startWaiting("waiter " + holds, mine, holds, () -> {
                Form.PLAIN.on(mine.condition());
                return true;
            });
            ends.of(holds + 1).signal();
            waiter.result();
        }

        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("without the lock, waiting and signalling throw IllegalMonitorStateException and change nothing")
    void needsLock(Contender contender) {
        Ends ends = newEnds(contender);
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), Form.PLAIN);
        assertRefusedWithoutLock(ends.here().condition());
        assertRefusedWithoutLock(ends.there().condition());
        Visitor holder = hold(ends.there().lock());

        assertRefusedWithoutLock(ends.here().condition());
        assertRefusedWithoutLock(ends.there().condition());

        assertNotHeldHere(ends.here().lock());
        assertThat(ends.there().lock().isLocked()).as("still held").isTrue();
        holder.leave();
        assertNotYet(waiter);
        ends.there().assertWaiters(1);
        ends.there().signal();
        waiter.result();
        assertLeftClean(ends);
    }

    private static void assertRefusedWithoutLock(Condition condition) {
        for (Form form : Form.values()) {
            assertThatThrownBy(() -> form.on(condition)).isInstanceOf(IllegalMonitorStateException.class);
        }
        assertThatThrownBy(condition::signal).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(condition::signalAll).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    @DisplayName("waiting without a unit or a deadline throws NullPointerException, and the lock stays held")
    void needsTime() {
        End end = newEnds(Contender.SAME_OBJECT).here();
        end.lock().lock();
        end.lock().lock();

        assertThatThrownBy(() -> awaitWithoutTime(end.condition(), null, null))
                .isInstanceOf(NullPointerException.class);
        assertHeldHere(end.lock(), 2);
        assertThatThrownBy(() -> awaitWithoutTime(end.condition(), TimeUnit.SECONDS, null))
                .isInstanceOf(NullPointerException.class);

        assertHeldHere(end.lock(), 2);
        end.assertWaitersOfHeldLock(0);
        end.lock().unlock();
        end.lock().unlock();
    }

    @SuppressWarnings("NullAway") // What null does is the question.
    private static boolean awaitWithoutTime(Condition condition, @Nullable TimeUnit unit, @Nullable Date deadline)
            throws InterruptedException {
        return unit == null ? condition.await(1, unit) : condition.awaitUntil(deadline);
    }

    @Test
    @DisplayName("without time to wait, await returns at once, unsignalled, with all holds")
    void awaitMayHaveNoTime() throws InterruptedException {
        End end = newEnds(Contender.SAME_OBJECT).here();
        end.lock().lock();
        end.lock().lock();

        for (long time : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThat(end.condition().awaitNanos(time)).as("%d ns", time).isNotPositive();
            assertHeldHere(end.lock(), 2);
            for (TimeUnit unit : List.of(TimeUnit.NANOSECONDS, TimeUnit.DAYS)) {
                assertThat(end.condition().await(time, unit))
                        .as("%d %s", time, unit)
                        .isFalse();
                assertHeldHere(end.lock(), 2);
            }
        }
        for (Date past : List.of(new Date(), new Date(0), new Date(Long.MIN_VALUE))) {
            assertThat(end.condition().awaitUntil(past)).as("%s", past).isFalse();
            assertHeldHere(end.lock(), 2);
        }

        end.assertWaitersOfHeldLock(0);
        end.lock().unlock();
        end.lock().unlock();
    }

    @ParameterizedTest
    @MethodSource("contendersAndTimedForms")
    @DisplayName("a wait ends when its time is over, not earlier, with all holds; it's no longer there to be signalled")
    void awaitTimesOut(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        Running<Boolean> waiter = startWaiting(
                "waiter", ends.here(), HOLDS, () -> form.on(ends.here().condition(), shortWait()));

        assertThat(waiter.result()).as("signalled").isFalse();

        ends.there().assertWaiters(0);
        Running<Boolean> next = startWaiting("next", ends.here(), Form.PLAIN);
        ends.there().signal();
        next.result();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contendersAndTimedForms")
    @DisplayName("a waiter whose time is over is no longer counted, but doesn't return before it gets the lock")
    void timedOutWaiterWaitsForLock(Contender contender, Form form) {
        Ends ends = newEnds(contender);
        AtomicBoolean held = new AtomicBoolean();
        AtomicBoolean released = new AtomicBoolean();
        Running<Boolean> waiter = startWaiting("waiter", ends.here(), 1, () -> {
            // On a slow machine it may time out before anybody holds the lock.
            while (!held.get()) {
                assertThat(form.on(ends.here().condition(), shortWait())).isFalse();
            }
            return released.get();
        });
        ends.there().lock().lock();
        held.set(true);

        assertReturnsAfterRelease(ends, waiter, released);
    }

    /** Asserts that a waiter is one no more, but returns no sooner than this thread has released the lock. */
    final void assertReturnsAfterRelease(Ends ends, Running<Boolean> waiter, AtomicBoolean released) {
        await("the end of its wait")
                .pollInSameThread()
                .untilAsserted(() -> ends.there().assertWaitersOfHeldLock(0));
        assertNotYet(waiter);
        released.set(true);
        ends.there().lock().unlock();

        assertThat(waiter.result()).as("returned after the release").isTrue();
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the longest times wait, in whatever unit and form they are given")
    void awaitMayTakeForEver(Contender contender) {
        Ends ends = newEnds(contender);
        Condition condition = ends.here().condition();
        List<Running<Boolean>> waiters = List.of(
                startWaiting("nanos", ends.here(), 1, () -> condition.awaitNanos(Long.MAX_VALUE) > 0),
                startWaiting("time", ends.here(), 1, () -> condition.await(Long.MAX_VALUE, TimeUnit.NANOSECONDS)),
                startWaiting("days", ends.here(), 1, () -> condition.await(Long.MAX_VALUE, TimeUnit.DAYS)),
                startWaiting("until", ends.here(), 1, () -> condition.awaitUntil(new Date(Long.MAX_VALUE))));

        waiters.forEach(this::assertNotYet);
        ends.there().signalAll();

        waiters.forEach(waiter -> assertThat(waiter.result()).isTrue());
        assertLeftClean(ends);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("awaitNanos returns what is left of its time: the time before the signal is gone")
    void awaitNanosReturnsRemainder(Contender contender) {
        Ends ends = newEnds(contender);
        Running<Long> waiter = startWaiting(
                "waiter", ends.here(), 1, () -> ends.here().condition().awaitNanos(FOREVER.toNanos()));

        assertNotYet(waiter);
        ends.there().signal();

        assertThat(waiter.result())
                .isBetween(
                        FOREVER.minus(patience()).toNanos(),
                        FOREVER.minus(shortWait()).toNanos());
        assertLeftClean(ends);
    }
}
