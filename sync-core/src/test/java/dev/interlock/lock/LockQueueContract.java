package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Visitor;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Looking at those who wait for a {@link ReentrantLock}, or on its conditions. */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class LockQueueContract extends LockInterruptContract {

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the queue shows the threads that wait, all of them and no others")
    void showsWaiters(Contender contender) {
        Visitor holder = heldBy(contender);
        List<Visitor> waiters = new ArrayList<>();
        List<Thread> queued = new ArrayList<>();
        for (int place = 0; place < 4; place++) {
            Visitor waiter = queue("waiter " + place, lock, Acquisition.LOCK::on);
            waiters.add(waiter);
            if (place > 0 || !hidesLeader(contender)) {
                queued.add(waiter.thread());
            }

            assertThat(lock.getQueueLength()).isEqualTo(queued.size());
            assertThat(lock.hasQueuedThreads()).isEqualTo(!queued.isEmpty());
            assertThat(LockProbe.queuedThreads(lock).toArray()).containsExactlyInAnyOrder(queued.toArray());
            assertThat(lock.hasQueuedThread(waiter.thread())).isEqualTo(queued.contains(waiter.thread()));
        }
        assertThat(lock.hasQueuedThread(holder.thread())).isFalse();
        assertThat(lock.hasQueuedThread(Thread.currentThread())).isFalse();

        letIn(holder, waiters);

        assertNobodyQueued(lock);
        waiters.forEach(
                waiter -> assertThat(lock.hasQueuedThread(waiter.thread())).isFalse());
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("isLocked(), getOwner() and toString() tell of who holds the lock, never of who waits for it")
    void showsOwnerNotWaiter(Contender contender) {
        Visitor holder = heldBy(contender);
        Visitor waiter = queue("waiter", lock, Acquisition.LOCK::on);

        assertThat(side.isLocked()).isTrue();
        assertThat(LockProbe.owner(side)).isSameAs(holder.thread());
        assertThat(side.toString()).contains("[Locked by thread holder]");
        if (contender == Contender.OTHER_SESSION) {
            assertFree(lock);
            assertThat(lock.toString()).contains("[Unlocked]");
        }

        holder.leave();
        waiter.leave();
    }

    private boolean hidesLeader(Contender contender) {
        return contender == Contender.OTHER_SESSION && deviates(Deviation.REMOTE_WAITER_NOT_QUEUED);
    }

    @Test
    @DisplayName("hasQueuedThread() without a thread throws NullPointerException")
    @SuppressWarnings("NullAway")
    void hasQueuedThreadNeedsThread() {
        assertThatThrownBy(() -> lock.hasQueuedThread(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    @DisplayName("newCondition() makes a condition of its own at every call, which only the owner may use")
    void makesConditions() {
        if (deviates(Deviation.NO_CONDITIONS)) {
            assertThatThrownBy(lock::newCondition)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .message()
                    .isNotBlank();
            return;
        }

        Condition condition = lock.newCondition();

        assertThat(lock.newCondition()).isNotSameAs(condition);
        assertThatThrownBy(condition::await).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(condition::signal).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(condition::signalAll).isInstanceOf(IllegalMonitorStateException.class);
        assertFree(lock);
    }

    @Test
    @DisplayName("a condition's waiters are shown to the owner of its lock only")
    void showsConditionWaitersToOwner() {
        if (deviates(Deviation.NO_CONDITIONS)) {
            return;
        }
        Condition condition = lock.newCondition();
        assertRefused(lock, condition, IllegalMonitorStateException.class);
        Visitor holder = hold(lock);
        assertRefused(lock, condition, IllegalMonitorStateException.class);
        holder.leave();

        lock.lock();

        assertThat(lock.hasWaiters(condition)).isFalse();
        assertThat(lock.getWaitQueueLength(condition)).isZero();
        assertThat(LockProbe.waitingThreads(lock, condition)).isEmpty();
        lock.unlock();
    }

    @Test
    @DisplayName("asking for the waiters of no condition throws NullPointerException, "
            + "of a foreign one IllegalArgumentException")
    void knowsItsConditions() {
        List<Condition> foreign = new ArrayList<>(List.of(new ReentrantLock().newCondition(), conditionOfNoLock()));
        if (!deviates(Deviation.NO_CONDITIONS)) {
            foreign.add(newLock().newCondition());
        }

        assertRefused(lock, null, NullPointerException.class);
        foreign.forEach(condition -> assertRefused(lock, condition, IllegalArgumentException.class));
        lock.lock();
        assertRefused(lock, null, NullPointerException.class);
        foreign.forEach(condition -> assertRefused(lock, condition, IllegalArgumentException.class));

        assertHeldHere(lock, 1);
        lock.unlock();
    }

    @SuppressWarnings("NullAway") // What null does is the question.
    private static void assertRefused(
            ReentrantLock lock, @Nullable Condition condition, Class<? extends RuntimeException> refusal) {
        assertThatThrownBy(() -> lock.hasWaiters(condition)).isInstanceOf(refusal);
        assertThatThrownBy(() -> lock.getWaitQueueLength(condition)).isInstanceOf(refusal);
        assertThatThrownBy(() -> LockProbe.waitingThreads(lock, condition)).isInstanceOf(refusal);
    }

    private static Condition conditionOfNoLock() {
        return (Condition) Proxy.newProxyInstance(
                Condition.class.getClassLoader(), new Class<?>[] {Condition.class}, (proxy, method, arguments) -> {
                    throw new UnsupportedOperationException(method.toString());
                });
    }
}
