package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.lock.Acquisition;
import dev.interlock.lock.Entry;
import dev.interlock.readwrite.View.Conflict;
import dev.interlock.testing.ContractFixture;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Visitor;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What {@link ReadWriteLockContract} asks of a subclass, and the means its tests share. Each test is about
 * {@link #lock}, which the thread of the test uses, and about its {@link #side} for the contender.
 */
abstract class ReadWriteLockFixture extends ContractFixture<ReentrantReadWriteLock> {
    static final List<Acquisition> INTERRUPTIBLE_WAITS =
            List.of(Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
    static final List<Acquisition> WAITS =
            List.of(Acquisition.LOCK, Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
    static final TimeUnit NANOS = TimeUnit.NANOSECONDS;

    ReentrantReadWriteLock lock;
    ReentrantReadWriteLock side;
    private Room room = new Room();

    /** A lock that nobody has used and that no other test will use. */
    protected abstract ReentrantReadWriteLock newLock();

    @Override
    protected final ReentrantReadWriteLock sample() {
        return newLock();
    }

    /**
     * The same as {@code condition}, of the write lock of the contender's lock object {@code rival}. The conditions of
     * a lock are made in the same order through both objects.
     */
    protected Condition sameCondition(Condition condition, ReentrantReadWriteLock rival) {
        return rival.writeLock().newCondition();
    }

    /**
     * Returns once {@code waiter} waits for {@code lock}. That it's in the local queue proves it; where arrival
     * elsewhere matters too, it must have got there before it queues here. For a thread that waits for another session,
     * the evidence is that it has been blocked for {@link #shortWait()}; a subclass that can look into the remote queue
     * should do so.
     */
    protected void awaitWaiting(ReentrantReadWriteLock lock, Thread waiter) {
        awaitBlocked(waiter, () -> lock.hasQueuedThread(waiter));
    }

    @BeforeEach
    final void useNewLock() {
        room = new Room();
        lock = newLock();
        side = lock;
    }

    /** Begins a test in which this contender has one view of the lock. */
    final Visitor heldBy(Contender contender, View view) {
        against(contender);
        return hold(side, view);
    }

    /** Begins a test against this contender. */
    final void against(Contender contender) {
        side = sideOf(contender, lock);
    }

    final Stream<Arguments> contendersAndViews() {
        return contendersWith((Object[]) View.values());
    }

    final Stream<Arguments> contendersAndConflicts() {
        return contendersWith((Object[]) Conflict.values());
    }

    final Stream<Arguments> contendersConflictsAndWaits() {
        return contendersAndConflictsBy(WAITS);
    }

    final Stream<Arguments> contendersConflictsAndInterruptibleWaits() {
        return contendersAndConflictsBy(INTERRUPTIBLE_WAITS);
    }

    private Stream<Arguments> contendersAndConflictsBy(List<Acquisition> ways) {
        return contenders()
                .flatMap(contender -> Stream.of(Conflict.values())
                        .flatMap(conflict -> ways.stream().map(way -> Arguments.of(contender, conflict, way))));
    }

    final Stream<Arguments> contendersAndWays() {
        return contendersWith((Object[]) Acquisition.values());
    }

    static Stream<Arguments> viewsAndWays() {
        return Stream.of(View.values())
                .flatMap(view -> Stream.of(Acquisition.values()).map(way -> Arguments.of(view, way)));
    }

    static Stream<Arguments> viewsAndInterruptibleWays() {
        return Stream.of(View.values())
                .flatMap(view -> INTERRUPTIBLE_WAITS.stream().map(way -> Arguments.of(view, way)));
    }

    /** Asserts what the current thread holds. */
    static void assertHolds(ReentrantReadWriteLock lock, int writes, int reads) {
        assertThat(lock.getWriteHoldCount()).as("write holds").isEqualTo(writes);
        assertThat(lock.writeLock().getHoldCount())
                .as("holds of the write lock")
                .isEqualTo(writes);
        assertThat(lock.isWriteLockedByCurrentThread())
                .as("write-locked by current thread")
                .isEqualTo(writes > 0);
        assertThat(lock.writeLock().isHeldByCurrentThread())
                .as("write lock held by current thread")
                .isEqualTo(writes > 0);
        assertThat(lock.getReadHoldCount()).as("read holds").isEqualTo(reads);
        if (writes > 0) {
            assertThat(lock.isWriteLocked()).as("write-locked").isTrue();
            assertThat(ReadWriteLockProbe.owner(lock)).as("owner").isSameAs(Thread.currentThread());
            assertThat(lock.getReadLockCount())
                    .as("read locks, all by the writer")
                    .isEqualTo(reads);
        } else {
            assertThat(ReadWriteLockProbe.owner(lock)).as("owner").isNotSameAs(Thread.currentThread());
            assertThat(lock.getReadLockCount()).as("read locks").isGreaterThanOrEqualTo(reads);
        }
    }

    static void assertFree(ReentrantReadWriteLock lock) {
        assertHolds(lock, 0, 0);
        assertThat(lock.isWriteLocked()).as("write-locked").isFalse();
        assertThat(lock.getReadLockCount()).as("read locks").isZero();
        assertThat(ReadWriteLockProbe.owner(lock)).as("owner").isNull();
    }

    static void assertNobodyQueued(ReentrantReadWriteLock lock) {
        assertThat(lock.hasQueuedThreads()).as("has queued threads").isFalse();
        assertThat(lock.getQueueLength()).as("queue length").isZero();
        assertThat(ReadWriteLockProbe.queuedThreads(lock)).as("queued threads").isEmpty();
        assertThat(ReadWriteLockProbe.queuedReaders(lock)).as("queued readers").isEmpty();
        assertThat(ReadWriteLockProbe.queuedWriters(lock)).as("queued writers").isEmpty();
    }

    /** Asserts that threads which haven't used the lock yet get it, for writing and for reading. */
    final void assertObtainable(ReentrantReadWriteLock lock) {
        for (View view : List.of(View.WRITE, View.READ)) {
            visit("next to " + view, lock, view, Entry.within(patience())).leave();
        }
        assertFree(lock);
    }

    /** Asserts that the lock is free, wanted by nobody, and obtainable, through both objects. */
    final void assertLeftClean(ReentrantReadWriteLock lock, ReentrantReadWriteLock side) {
        for (ReentrantReadWriteLock end : List.of(lock, side)) {
            assertFree(end);
            assertNobodyQueued(end);
            assertObtainable(end);
        }
    }

    /** Asserts that tryLock() by this thread succeeds, now that {@code contender} has released the lock. */
    final void assertTryLockSucceeds(ReentrantReadWriteLock lock, View view, Contender contender) {
        if (contender == Contender.OTHER_SESSION && deviates(Deviation.RELEASE_LINGERS)) {
            await("tryLock() succeeds").pollInSameThread().until(view.of(lock)::tryLock);
        } else {
            assertThat(view.of(lock).tryLock()).as("tryLock() of a free lock").isTrue();
        }
        view.assertHeld(lock, 1);
    }

    /** Lets another thread come. */
    final Visitor visit(String name, ReentrantReadWriteLock lock, View view, Entry entry) {
        return visitors().visit(name, room.visit(lock, view, entry));
    }

    /** Lets another thread enter, and returns once it's in. */
    final Visitor hold(ReentrantReadWriteLock lock, View view) {
        return visit("holder", lock, view, Acquisition.LOCK::on).awaitIn();
    }

    /** Lets another thread come, and returns once it waits. */
    final Visitor queue(String name, ReentrantReadWriteLock lock, View view, Acquisition way) {
        Visitor visitor = visit(name, lock, view, way::on);
        awaitWaiting(lock, visitor.thread());
        return visitor;
    }
}
