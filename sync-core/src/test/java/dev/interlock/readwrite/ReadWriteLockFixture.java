package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.lock.Acquisition;
import dev.interlock.readwrite.Room.Entry;
import dev.interlock.readwrite.Room.Visitor;
import dev.interlock.readwrite.View.Conflict;
import dev.interlock.testing.TestThreads;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What {@link ReadWriteLockContract} asks of a subclass, and the means its tests share.
 *
 * <p>A test that involves several threads runs once per {@link Contender}: against threads that use the same lock
 * object and, where {@link #rivalOf} knows one, against threads of another session. One instance serves all tests of a
 * class, so that {@link #contenders()} can ask it; hence {@link #newLock()} and {@link #rivalOf} must work as soon as
 * {@code @BeforeAll} has run, before any {@code @BeforeEach}.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
// In a thread of its own, since an interrupt wouldn't end a lock() that hangs.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ReadWriteLockFixture {

    /** Who competes with the lock under test. */
    enum Contender {
        SAME_OBJECT,
        OTHER_SESSION
    }

    static final List<Acquisition> INTERRUPTIBLE_WAITS =
            List.of(Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
    static final List<Acquisition> WAITS =
            List.of(Acquisition.LOCK, Acquisition.LOCK_INTERRUPTIBLY, Acquisition.TIMED_TRY_LOCK);
    static final TimeUnit NANOS = TimeUnit.NANOSECONDS;

    private static final Set<Thread.State> BLOCKED =
            EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private TestThreads threads;
    private Room room;

    /** A lock that nobody has used and that no other test will use. */
    protected abstract ReentrantReadWriteLock newLock();

    /** A lock object of another session that excludes with {@code lock}; the same, or an equal one, at every call. */
    protected Optional<ReentrantReadWriteLock> rivalOf(ReentrantReadWriteLock lock) {
        return Optional.empty();
    }

    /** Whether {@link #newLock()} makes fair locks. */
    protected boolean fair() {
        return false;
    }

    protected Set<Deviation> deviations() {
        return EnumSet.noneOf(Deviation.class);
    }

    /**
     * The same as {@code condition}, of the write lock of the contender's lock object {@code rival}. The conditions of
     * a lock are made in the same order through both objects.
     */
    protected Condition sameCondition(Condition condition, ReentrantReadWriteLock rival) {
        return rival.writeLock().newCondition();
    }

    /** The longest that anything may take which has to happen. */
    protected Duration patience() {
        return Duration.ofSeconds(20);
    }

    /** How long tests watch for what must not happen, and let a timeout run. No single operation takes so long. */
    protected Duration shortWait() {
        return Duration.ofMillis(40);
    }

    /** How many critical sections a test of exclusion lets several threads enter between them. */
    protected int crowd() {
        return 1_000;
    }

    /**
     * Returns once {@code waiter} waits for {@code lock}. That it's in the local queue proves it; where arrival
     * elsewhere matters too, it must have got there before it queues here. For a thread that waits for another session,
     * the evidence is that it has been blocked for {@link #shortWait()}; a subclass that can look into the remote queue
     * should do so.
     */
    protected void awaitWaiting(ReentrantReadWriteLock lock, Thread waiter) {
        long[] blockedSince = {System.nanoTime()};
        await(waiter.getName() + " waits").until(() -> {
            Thread.State state = waiter.getState();
            assertThat(state).as(waiter.getName() + ", which should wait,").isNotEqualTo(Thread.State.TERMINATED);
            if (!BLOCKED.contains(state)) {
                blockedSince[0] = System.nanoTime();
            }
            return lock.hasQueuedThread(waiter)
                    || System.nanoTime() - blockedSince[0] >= shortWait().toNanos();
        });
    }

    @BeforeEach
    final void beginThreads() {
        threads = new TestThreads(patience());
        room = new Room(threads, patience(), shortWait());
    }

    @AfterEach
    final void endThreads() {
        room.letAllGo();
        threads.close();
    }

    final TestThreads threads() {
        return threads;
    }

    final boolean deviates(Deviation deviation) {
        return deviations().contains(deviation);
    }

    /** Whether waiters enter in the order of their arrival. */
    final boolean fifo(Contender contender) {
        return fair() && (contender == Contender.SAME_OBJECT || !deviates(Deviation.NO_FIFO_ACROSS_SESSIONS));
    }

    /** Not a constant: without a rival the other half isn't there at all, rather than skipped. */
    final Stream<Contender> contenders() {
        return rivalOf(newLock()).isPresent() ? Stream.of(Contender.values()) : Stream.of(Contender.SAME_OBJECT);
    }

    final Stream<Arguments> contendersAndViews() {
        return contenders().flatMap(contender -> Stream.of(View.values()).map(view -> Arguments.of(contender, view)));
    }

    final Stream<Arguments> contendersAndConflicts() {
        return contenders()
                .flatMap(contender -> Stream.of(Conflict.values()).map(conflict -> Arguments.of(contender, conflict)));
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
        return contenders()
                .flatMap(contender -> Stream.of(Acquisition.values()).map(way -> Arguments.of(contender, way)));
    }

    static Stream<Arguments> viewsAndWays() {
        return Stream.of(View.values())
                .flatMap(view -> Stream.of(Acquisition.values()).map(way -> Arguments.of(view, way)));
    }

    static Stream<Arguments> viewsAndInterruptibleWays() {
        return Stream.of(View.values())
                .flatMap(view -> INTERRUPTIBLE_WAITS.stream().map(way -> Arguments.of(view, way)));
    }

    /** The object through which a contender uses what {@code lock} guards. */
    final ReentrantReadWriteLock sideOf(Contender contender, ReentrantReadWriteLock lock) {
        return contender == Contender.SAME_OBJECT ? lock : rivalOf(lock).orElseThrow();
    }

    final ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(patience())
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1));
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
            Visitor next = visit(
                    "next to " + view,
                    lock,
                    view,
                    mine -> mine.tryLock(patience().toNanos(), NANOS));
            next.leave();
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

    /** An entry with a time-out, which it doesn't give up before. */
    static Entry within(Duration timeout) {
        return view -> {
            long begin = System.nanoTime();
            boolean entered = view.tryLock(timeout.toNanos(), NANOS);
            if (!entered) {
                assertThat(Duration.ofNanos(System.nanoTime() - begin))
                        .as("time waited")
                        .isGreaterThanOrEqualTo(timeout);
            }
            return entered;
        };
    }

    /** Lets another thread come. */
    final Visitor visit(String name, ReentrantReadWriteLock lock, View view, Entry entry) {
        return room.visit(name, lock, view, entry);
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
