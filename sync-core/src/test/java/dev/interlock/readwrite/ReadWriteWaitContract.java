package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.lock.Acquisition;
import dev.interlock.lock.Entry;
import dev.interlock.readwrite.View.Conflict;
import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Outcome;
import dev.interlock.testing.Visitors.Visitor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Competing for a {@link ReentrantReadWriteLock}: sharing, exclusion, waiting, giving up, downgrading. */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class ReadWriteWaitContract extends ReadWriteHoldContract {

    private static final int THREADS = 6;
    private static final int ROUNDS = 30;

    @ParameterizedTest
    @MethodSource("contendersAndWays")
    @DisplayName(
            "readers are inside together, in whatever way they come, and writers don't get in before the last leaves")
    void readersShare(Contender contender, Acquisition way) throws InterruptedException {
        against(contender);
        List<Visitor> readers = new ArrayList<>();
        for (int place = 0; place < THREADS; place++) {
            readers.add(visit("reader " + place, place % 2 == 0 ? lock : side, View.READ, way::on)
                    .awaitIn());
        }

        assertThat(lock.getReadLockCount() + (side == lock ? 0 : side.getReadLockCount()))
                .isEqualTo(THREADS);
        for (Visitor reader : readers) {
            assertThat(lock.writeLock().tryLock()).isFalse();
            assertThat(side.writeLock().tryLock(0, NANOS)).isFalse();
            reader.leave();
        }

        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("of threads that try at once to read a free lock, none fails")
    void readersDoNotDisturbEachOther(Contender contender) {
        against(contender);
        CyclicBarrier barrier = new CyclicBarrier(THREADS);
        List<Running<Integer>> readers = IntStream.range(0, THREADS)
                .mapToObj(member -> threads().start("reader " + member, () -> {
                    // Two thirds of one session, since they are what disturbs each other there.
                    ReentrantReadWriteLock mine = member % 3 == 0 ? side : lock;
                    int failures = 0;
                    for (int round = 0; round < ROUNDS; round++) {
                        barrier.await(patience().toSeconds(), TimeUnit.SECONDS);
                        boolean entered = round % 2 == 0
                                ? mine.readLock().tryLock()
                                : mine.readLock().tryLock(1, TimeUnit.HOURS);
                        failures += entered ? 0 : 1;
                        barrier.await(patience().toSeconds(), TimeUnit.SECONDS);
                        if (entered) {
                            mine.readLock().unlock();
                        }
                    }
                    return failures;
                }))
                .toList();

        readers.forEach(reader -> assertThat(reader.result()).as("failures").isZero());
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersConflictsAndWaits")
    @DisplayName("who finds the lock held in a view that excludes the wanted one waits, and enters after the release")
    void waitsThenEnters(Contender contender, Conflict conflict, Acquisition way) {
        Visitor holder = heldBy(contender, conflict.held);
        Visitor waiter = queue("waiter", lock, conflict.wanted, way);

        waiter.assertStillWaits();
        holder.leave();
        waiter.leave();

        assertFree(lock);
        assertFree(side);
        assertNobodyQueued(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("tryLock of an excluded view fails: untimed or without time at once, timed when its time is over")
    void triesInVain(Contender contender, Conflict conflict) throws InterruptedException {
        Visitor holder = heldBy(contender, conflict.held);

        assertThat(conflict.wanted.of(lock).tryLock()).isFalse();
        assertInVainWithoutTime((timeout, unit) -> conflict.wanted.of(lock).tryLock(timeout, unit), () -> {
            assertHolds(lock, 0, 0);
            assertNobodyQueued(lock);
        });
        assertThat(Entry.within(shortWait()).into(conflict.wanted.of(lock))).isFalse();
        assertHolds(lock, 0, 0);
        assertNobodyQueued(lock);

        holder.leave();
        assertTryLockSucceeds(lock, conflict.wanted, contender);
        conflict.wanted.of(lock).unlock();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("the longest timeout waits, in whatever unit it's given")
    void timedTryLockMayWaitForEver(Contender contender, Conflict conflict) {
        Visitor holder = heldBy(contender, conflict.held);
        List<Visitor> waiters = new ArrayList<>();
        for (TimeUnit unit : List.of(TimeUnit.NANOSECONDS, TimeUnit.DAYS)) {
            Visitor waiter = visit(unit.name(), lock, conflict.wanted, view -> view.tryLock(Long.MAX_VALUE, unit));
            awaitWaiting(lock, waiter.thread());
            waiters.add(waiter);
        }

        letIn(holder, waiters);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a reentrant holder lets others in at its last release, not before")
    void onlyLastReleaseFrees(Contender contender) {
        for (Conflict conflict : Conflict.values()) {
            ReentrantReadWriteLock lock = newLock();
            ReentrantReadWriteLock side = sideOf(contender, lock);
            conflict.held.of(lock).lock();
            conflict.held.of(lock).lock();
            Visitor waiter = queue("waiter", side, conflict.wanted, Acquisition.LOCK);

            conflict.held.of(lock).unlock();
            waiter.assertStillWaits();
            conflict.held.assertHeld(lock, 1);
            conflict.held.of(lock).unlock();

            waiter.leave();
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a writer that waits keeps new readers out, in every way that waits, but not those who read already")
    void waitingWriterStopsNewReaders(Contender contender) throws InterruptedException {
        assumeFalse(contender == Contender.OTHER_SESSION && deviates(Deviation.READERS_OVERTAKE_REMOTE_WRITER));
        Visitor other = heldBy(contender, View.READ);
        lock.readLock().lock();
        Visitor writer = queue("writer", side, View.WRITE, Acquisition.LOCK);
        // Of threads that come at the same time, any may be first.
        writer.assertStillWaits();
        List<Visitor> readers = new ArrayList<>();
        for (Acquisition way : WAITS) {
            readers.add(queue("reader here", lock, View.READ, way));
            readers.add(queue("reader there", side, View.READ, way));
        }

        for (Acquisition way : Acquisition.values()) {
            assertThat(way.on(lock.readLock())).as("%s of a reader", way).isTrue();
            assertHolds(lock, 0, 2);
            lock.readLock().unlock();
        }
        for (ReentrantReadWriteLock end : List.of(lock, side)) {
            visit("has no time", end, View.READ, view -> view.tryLock(0, NANOS)).assertOutcome(Outcome.GAVE_UP);
            visit("has little", end, View.READ, Entry.within(shortWait())).assertOutcome(Outcome.GAVE_UP);
        }
        readers.forEach(reader -> assertThat(reader.isIn()).isFalse());
        lock.readLock().unlock();
        writer.assertStillWaits();

        other.leave();
        writer.awaitIn();
        readers.get(0).assertStillWaits();
        readers.forEach(reader -> assertThat(reader.isIn()).isFalse());
        writer.leave();
        readers.forEach(Visitor::awaitIn);
        readers.forEach(Visitor::leave);
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("untimed tryLock() reads beside other readers even if a writer waits")
    void tryLockReadsBesideWaitingWriter(Contender contender) {
        against(contender);
        Visitor holder = hold(lock, View.READ);
        Visitor writer = queue("writer", side, View.WRITE, Acquisition.LOCK);

        boolean entered = lock.readLock().tryLock();

        if (contender == Contender.SAME_OBJECT || !deviates(Deviation.TRYLOCK_MAY_NOT_BARGE)) {
            assertThat(entered).isTrue();
        }
        if (entered) {
            holder.leave();
            writer.assertStillWaits();
            lock.readLock().unlock();
        }
        holder.letGo();
        writer.leave();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("all readers that waited for a writer are let in together")
    void writerLetsAllReadersIn(Contender contender) {
        against(contender);
        for (ReentrantReadWriteLock home : List.of(lock, side)) {
            Visitor writer = hold(home, View.WRITE);
            List<Visitor> readers = new ArrayList<>();
            for (int place = 0; place < THREADS; place++) {
                Acquisition way = WAITS.get(place / 2 % WAITS.size());
                readers.add(queue("reader " + place, place % 2 == 0 ? lock : side, View.READ, way));
            }

            writer.leave();
            readers.forEach(Visitor::awaitIn);
            readers.forEach(Visitor::leave);
            assertLeftClean(lock, side);
        }
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("a waiter that gives up doesn't stand in the way of those behind it")
    void timedOutWaiterMakesWay(Contender contender, Conflict conflict) {
        Visitor holder = heldBy(contender, conflict.held);
        AtomicBoolean everybodyCame = new AtomicBoolean();
        Visitor front = visit("front", lock, conflict.wanted, view -> {
            boolean entered;
            // On a slow machine it may time out before anybody is behind it.
            do {
                entered = Entry.within(shortWait().multipliedBy(2)).into(view);
            } while (!entered && !everybodyCame.get());
            return entered;
        });
        awaitWaiting(lock, front.thread());
        List<Visitor> readers = List.of(
                visit("here", lock, View.READ, Acquisition.LOCK::on),
                visit("there", side, View.READ, Acquisition.LOCK::on));

        everybodyCame.set(true);
        front.assertOutcome(Outcome.GAVE_UP);
        if (conflict.held == View.WRITE) {
            readers.get(0).assertStillWaits();
            assertThat(readers.get(1).isIn()).isFalse();
            holder.leave();
        }

        readers.forEach(Visitor::awaitIn);
        readers.forEach(Visitor::leave);
        holder.letGo();
        holder.leave();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "a writer that keeps a read hold lets waiting readers in when it stops writing, and writers when it leaves")
    void downgrades(Contender contender) throws InterruptedException {
        against(contender);
        lock.writeLock().lock();
        lock.writeLock().lock();
        lock.readLock().lock();
        List<Visitor> readers = List.of(
                queue("reader here", lock, View.READ, Acquisition.LOCK),
                queue("reader there", side, View.READ, Acquisition.TIMED_TRY_LOCK));

        lock.writeLock().unlock();
        readers.forEach(Visitor::assertStillWaits);
        lock.writeLock().unlock();

        readers.forEach(Visitor::awaitIn);
        assertHolds(lock, 0, 1);
        readers.forEach(Visitor::leave);
        for (ReentrantReadWriteLock end : List.of(lock, side)) {
            visit("impatient", end, View.WRITE, Acquisition.TRY_LOCK::on).assertOutcome(Outcome.GAVE_UP);
            visit("has little time", end, View.WRITE, Entry.within(shortWait())).assertOutcome(Outcome.GAVE_UP);
        }
        Visitor here = queue("writer here", lock, View.WRITE, Acquisition.LOCK);
        Visitor there = queue("writer there", side, View.WRITE, Acquisition.LOCK);
        there.assertStillWaits();
        here.assertStillWaits();
        assertHolds(lock, 0, 1);
        lock.readLock().unlock();

        here.letGo();
        there.leave();
        here.leave();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a writer that had to wait lets in the readers behind it when it stops writing, though it reads on")
    void downgradesAfterWait(Contender contender) {
        boolean overtake = contender == Contender.OTHER_SESSION && deviates(Deviation.READERS_OVERTAKE_REMOTE_WRITER);
        Visitor holder = heldBy(contender, View.WRITE);
        CountDownLatch mayLeave = new CountDownLatch(1);
        Running<Boolean> downgrader = threads().start("downgrader", () -> {
            lock.writeLock().lock();
            lock.readLock().lock();
            lock.writeLock().unlock();
            mayLeave.await();
            lock.readLock().unlock();
        });
        awaitWaiting(lock, downgrader.thread());
        List<Visitor> readers = new ArrayList<>();
        for (Acquisition way : WAITS) {
            readers.add(queue("reader here by " + way, lock, View.READ, way));
            if (!overtake) {
                readers.add(queue("reader there by " + way, side, View.READ, way));
            }
        }
        Visitor interrupted = queue("interrupted", lock, View.READ, Acquisition.LOCK_INTERRUPTIBLY);
        Visitor impatient = visit("impatient", lock, View.READ, Entry.within(shortWait()));

        interrupted.assertInterruptible();
        impatient.assertOutcome(Outcome.GAVE_UP);
        holder.leave();

        readers.forEach(Visitor::awaitIn);
        if (overtake) {
            // Before the downgrade they would have stayed in its way.
            WAITS.forEach(way -> readers.add(visit("reader there by " + way, side, View.READ, way::on)));
            readers.forEach(Visitor::awaitIn);
        }
        assertThat(lock.writeLock().tryLock()).isFalse();
        readers.forEach(Visitor::leave);
        mayLeave.countDown();
        downgrader.result();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("readers of a fair lock keep their places when the writer before them, or one of them, is interrupted")
    void readersKeepTheirPlaces(Contender contender) {
        assumeTrue(fair());
        Visitor holder = heldBy(contender, View.WRITE);
        Visitor front = queue("front", lock, View.WRITE, Acquisition.LOCK_INTERRUPTIBLY);
        Visitor first = queue("first", lock, View.READ, Acquisition.LOCK_INTERRUPTIBLY);
        List<Visitor> readers = new ArrayList<>();
        for (Acquisition way : WAITS) {
            readers.add(queue("reader by " + way, lock, View.READ, way));
        }
        Visitor next = queue("next", lock, View.WRITE, Acquisition.LOCK);
        Visitor last = queue("last", lock, View.READ, Acquisition.LOCK);

        front.assertInterruptible();
        readers.forEach(Visitor::assertStillWaits);
        assertThat(lock.getReadLockCount()).isZero();
        first.assertInterruptible();
        readers.get(1).assertInterruptible();
        readers.remove(1);
        readers.forEach(Visitor::assertStillWaits);
        holder.leave();

        readers.forEach(Visitor::awaitIn);
        next.assertStillWaits();
        assertThat(last.isIn()).isFalse();
        readers.forEach(Visitor::leave);
        next.awaitIn();
        last.assertStillWaits();
        next.leave();
        last.leave();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("a thread that dies while it holds a view keeps it")
    void deadHolderKeepsLock(Contender contender, Conflict conflict) throws InterruptedException {
        against(contender);
        Running<Boolean> dying = threads().start("dying", () -> {
            conflict.held.of(lock).lock();
        });
        dying.result();

        assertThat(lock.isWriteLocked()).isEqualTo(conflict.held == View.WRITE);
        assertThat(lock.getReadLockCount()).isEqualTo(conflict.held == View.READ ? 1 : 0);
        assertThat(conflict.wanted.of(side).tryLock()).isFalse();
        assertThat(Entry.within(shortWait()).into(conflict.wanted.of(side))).isFalse();
    }
}
