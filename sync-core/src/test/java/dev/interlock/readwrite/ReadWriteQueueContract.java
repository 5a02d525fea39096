package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.lock.Acquisition;
import dev.interlock.readwrite.View.Conflict;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Visitor;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Looking at those who hold a {@link ReentrantReadWriteLock}, wait for it, or wait on a condition of it. */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class ReadWriteQueueContract extends ReadWriteInterruptContract {

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the queue shows the threads that wait, readers as readers and writers as writers, and no others")
    void showsWaiters(Contender contender) {
        Visitor holder = heldBy(contender, View.WRITE);
        List<Visitor> waiters = new ArrayList<>();
        List<Thread> readers = new ArrayList<>();
        List<Thread> writers = new ArrayList<>();
        for (View view : List.of(View.WRITE, View.READ, View.READ, View.WRITE, View.READ)) {
            Visitor waiter = queue("waiter for " + view, lock, view, Acquisition.LOCK);
            waiters.add(waiter);
            (view == View.READ ? readers : writers).add(waiter.thread());
            assertQueued(contender, lock, readers, writers);
        }
        assertThat(lock.hasQueuedThread(holder.thread())).isFalse();
        assertThat(lock.hasQueuedThread(Thread.currentThread())).isFalse();

        letIn(holder, waiters);

        assertNobodyQueued(lock);
        assertNobodyQueued(side);
        waiters.forEach(
                waiter -> assertThat(lock.hasQueuedThread(waiter.thread())).isFalse());
    }

    private void assertQueued(
            Contender contender, ReentrantReadWriteLock lock, List<Thread> readers, List<Thread> writers) {
        List<Thread> waiters = new ArrayList<>(readers);
        waiters.addAll(writers);
        Collection<?> queued = ReadWriteLockProbe.queuedThreads(lock);
        if (contender == Contender.OTHER_SESSION && deviates(Deviation.REMOTE_WAITER_NOT_QUEUED)) {
            assertThat(queued.toArray()).isSubsetOf(waiters.toArray());
            assertThat(ReadWriteLockProbe.queuedReaders(lock).toArray()).isSubsetOf(readers.toArray());
            assertThat(ReadWriteLockProbe.queuedWriters(lock).toArray()).isSubsetOf(writers.toArray());
        } else {
            assertThat(queued.toArray()).containsExactlyInAnyOrder(waiters.toArray());
            assertThat(ReadWriteLockProbe.queuedReaders(lock).toArray()).containsExactlyInAnyOrder(readers.toArray());
            assertThat(ReadWriteLockProbe.queuedWriters(lock).toArray()).containsExactlyInAnyOrder(writers.toArray());
        }
        assertThat(lock.getQueueLength()).isEqualTo(queued.size());
        assertThat(lock.hasQueuedThreads()).isEqualTo(!queued.isEmpty());
        waiters.forEach(waiter ->
                assertThat(lock.hasQueuedThread(waiter)).as(waiter.getName()).isEqualTo(queued.contains(waiter)));
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("counts, owner and toString() tell of who holds this lock object, never of who waits for it")
    void showsHoldersNotWaiters(Contender contender, Conflict conflict) {
        Visitor holder = heldBy(contender, conflict.held);
        Visitor waiter = queue("waiter", lock, conflict.wanted, Acquisition.LOCK);
        boolean isWritten = conflict.held == View.WRITE;

        assertThat(side.isWriteLocked()).isEqualTo(isWritten);
        assertThat(side.getReadLockCount()).isEqualTo(isWritten ? 0 : 1);
        assertThat(ReadWriteLockProbe.owner(side)).isSameAs(isWritten ? holder.thread() : null);
        assertThat(side.toString())
                .contains(isWritten ? "[Write locks = 1, Read locks = 0]" : "[Write locks = 0, Read locks = 1]");
        assertThat(side.writeLock().toString()).contains(isWritten ? "[Locked by thread holder]" : "[Unlocked]");
        assertThat(side.readLock().toString()).contains(isWritten ? "[Read locks = 0]" : "[Read locks = 1]");
        assertHolds(side, 0, 0);
        if (contender == Contender.OTHER_SESSION) {
            assertFree(lock);
            assertThat(lock.toString()).contains("[Write locks = 0, Read locks = 0]");
            assertThat(lock.writeLock().toString()).contains("[Unlocked]");
        }

        holder.leave();
        waiter.leave();
    }

    @Test
    @DisplayName("hasQueuedThread() without a thread throws NullPointerException")
    @SuppressWarnings("NullAway")
    void hasQueuedThreadNeedsThread() {
        assertThatThrownBy(() -> lock.hasQueuedThread(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    @DisplayName("the read lock has no conditions, whoever asks")
    void readLockHasNoConditions() {
        assertThatThrownBy(View.READ.of(lock)::newCondition).isInstanceOf(UnsupportedOperationException.class);
        lock.writeLock().lock();
        lock.readLock().lock();
        assertThatThrownBy(View.READ.of(lock)::newCondition).isInstanceOf(UnsupportedOperationException.class);

        assertHolds(lock, 1, 1);
        lock.readLock().unlock();
        lock.writeLock().unlock();
        assertFree(lock);
    }

    @Test
    @DisplayName("the write lock makes a condition of its own at every call, or says why it has none")
    void makesConditions() {
        if (deviates(Deviation.NO_CONDITIONS)) {
            assertThatThrownBy(lock.writeLock()::newCondition)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .message()
                    .isNotBlank();
            return;
        }

        Condition condition = lock.writeLock().newCondition();

        assertThat(lock.writeLock().newCondition()).isNotSameAs(condition);
        assertFree(lock);
    }

    @Test
    @DisplayName("a condition's waiters are shown to the writer only, not to a reader")
    void showsConditionWaitersToWriter() {
        if (deviates(Deviation.NO_CONDITIONS)) {
            return;
        }
        Condition condition = lock.writeLock().newCondition();
        assertRefused(lock, condition, IllegalMonitorStateException.class);
        Visitor holder = hold(lock, View.WRITE);
        assertRefused(lock, condition, IllegalMonitorStateException.class);
        holder.leave();
        lock.readLock().lock();
        assertRefused(lock, condition, IllegalMonitorStateException.class);
        lock.readLock().unlock();

        lock.writeLock().lock();

        assertThat(lock.hasWaiters(condition)).isFalse();
        assertThat(lock.getWaitQueueLength(condition)).isZero();
        assertThat(ReadWriteLockProbe.waitingThreads(lock, condition)).isEmpty();
        lock.writeLock().unlock();
    }

    @Test
    @DisplayName("to ask for the waiters of no condition throws NullPointerException, "
            + "of a foreign one IllegalArgumentException")
    void knowsItsConditions() {
        List<Condition> foreign =
                new ArrayList<>(List.of(new ReentrantReadWriteLock().writeLock().newCondition()));
        if (!deviates(Deviation.NO_CONDITIONS)) {
            foreign.add(newLock().writeLock().newCondition());
        }

        assertRefused(lock, null, NullPointerException.class);
        foreign.forEach(condition -> assertRefused(lock, condition, IllegalArgumentException.class));
        lock.writeLock().lock();
        assertRefused(lock, null, NullPointerException.class);
        foreign.forEach(condition -> assertRefused(lock, condition, IllegalArgumentException.class));

        assertHolds(lock, 1, 0);
        lock.writeLock().unlock();
    }

    @SuppressWarnings("NullAway") // What null does is the question.
    private static void assertRefused(
            ReentrantReadWriteLock lock, @Nullable Condition condition, Class<? extends RuntimeException> refusal) {
        assertThatThrownBy(() -> lock.hasWaiters(condition)).isInstanceOf(refusal);
        assertThatThrownBy(() -> lock.getWaitQueueLength(condition)).isInstanceOf(refusal);
        assertThatThrownBy(() -> ReadWriteLockProbe.waitingThreads(lock, condition))
                .isInstanceOf(refusal);
    }
}
