package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.lock.Acquisition;
import dev.interlock.lock.Entry;
import dev.interlock.readwrite.View.Conflict;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Outcome;
import dev.interlock.testing.Visitors.Visitor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interrupting those who use a {@link ReentrantReadWriteLock}, and what those who quit do to those who stay. */
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
abstract class ReadWriteInterruptContract extends ReadWriteWaitContract {

    private static final int RACES = 10;

    @ParameterizedTest
    @EnumSource
    @DisplayName("lock() and untimed tryLock() of a view work with the interrupt flag set, and leave it set")
    void ignoresInterruptFlag(View view) throws InterruptedException {
        Thread.currentThread().interrupt();

        for (int holds = 1; holds <= 4; holds++) {
            Acquisition way = holds % 2 == 0 ? Acquisition.TRY_LOCK : Acquisition.LOCK;
            assertThat(way.on(view.of(lock))).isTrue();
            assertThat(Thread.currentThread().isInterrupted())
                    .as("flag with %d holds", holds)
                    .isTrue();
        }

        assertThat(Thread.interrupted()).as("flag").isTrue();
        view.assertHeld(lock, 4);
        for (int holds = 4; holds > 0; holds--) {
            view.of(lock).unlock();
        }
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("untimed tryLock() of an excluded view fails with the interrupt flag set, and leaves it set")
    void failedTryLockIgnoresInterruptFlag(Contender contender, Conflict conflict) {
        Visitor holder = heldBy(contender, conflict.held);
        Thread.currentThread().interrupt();

        assertThat(conflict.wanted.of(lock).tryLock()).isFalse();

        assertThat(Thread.interrupted()).as("flag").isTrue();
        assertHolds(lock, 0, 0);
        holder.leave();
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName("lock() waits on however often it's interrupted, before or meanwhile, and enters with the flag set")
    void interruptDoesNotEndLock(Contender contender, Conflict conflict) {
        Visitor holder = heldBy(contender, conflict.held);
        Visitor flagged = visit("flagged", lock, conflict.wanted, view -> {
            Thread.currentThread().interrupt();
            view.lock();
            return Thread.currentThread().isInterrupted();
        });
        awaitWaiting(lock, flagged.thread());
        Visitor interrupted = visit("interrupted", lock, conflict.wanted, view -> {
            view.lock();
            return Thread.currentThread().isInterrupted();
        });
        awaitWaiting(lock, interrupted.thread());

        for (int interrupts = 0; interrupts < 2; interrupts++) {
            interrupted.thread().interrupt();
            interrupted.assertStillWaits();
        }
        assertThat(flagged.isIn()).isFalse();
        holder.leave();
        flagged.letGo();
        interrupted.leave();
        flagged.leave();

        assertFree(lock);
        assertNobodyQueued(lock);
    }

    @ParameterizedTest
    @MethodSource("viewsAndInterruptibleWays")
    @DisplayName("an interruptible way throws with the flag set, even into a free or owned view, and clears the flag")
    void interruptFlagForbidsEntry(View view, Acquisition way) {
        assertThrowsInterrupted(() -> way.on(view.of(lock)));
        assertThrowsInterrupted(() -> view.of(lock).tryLock(0, NANOS));
        assertThrowsInterrupted(() -> view.of(lock).tryLock(Long.MIN_VALUE, TimeUnit.DAYS));
        assertFree(lock);
        assertObtainable(lock);

        view.of(lock).lock();
        assertThrowsInterrupted(() -> way.on(view.of(lock)));
        assertThrowsInterrupted(() -> view.of(lock).tryLock(0, NANOS));
        view.assertHeld(lock, 1);
        view.of(lock).unlock();
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contendersConflictsAndInterruptibleWaits")
    @DisplayName("an interruptible way throws with the flag set instead of waiting, and leaves nothing behind")
    void interruptFlagForbidsWait(Contender contender, Conflict conflict, Acquisition way) {
        Visitor holder = heldBy(contender, conflict.held);

        assertThrowsInterrupted(() -> way.on(conflict.wanted.of(lock)));

        assertHolds(lock, 0, 0);
        assertNobodyQueued(lock);
        holder.leave();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersConflictsAndInterruptibleWaits")
    @DisplayName("an interrupted waiter throws, with the flag cleared, holds nothing and lets everybody else in")
    void interruptEndsWait(Contender contender, Conflict conflict, Acquisition way) {
        Visitor holder = heldBy(contender, conflict.held);
        Visitor waiter = queue("waiter", lock, conflict.wanted, way);

        waiter.assertInterruptible();

        assertThat(lock.hasQueuedThread(waiter.thread())).isFalse();
        assertNobodyQueued(lock);
        assertThat(lock.writeLock().tryLock()).as("while still held").isFalse();
        holder.leave();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("readers who wait behind a writer join those inside when the writer is interrupted")
    void interruptedWriterMakesWay(Contender contender) {
        against(contender);
        for (Acquisition way : INTERRUPTIBLE_WAITS) {
            Visitor holder = hold(side, View.READ);
            Visitor writer = queue("writer", lock, View.WRITE, way);
            // Whether they wait is the subject of another test.
            List<Visitor> readers = List.of(
                    visit("here", lock, View.READ, Acquisition.LOCK::on),
                    visit("there", side, View.READ, Acquisition.TIMED_TRY_LOCK::on),
                    visit("here, too", lock, View.READ, Acquisition.LOCK_INTERRUPTIBLY::on));

            writer.assertInterruptible();
            readers.forEach(Visitor::awaitIn);
            readers.forEach(Visitor::leave);
            holder.leave();
            assertLeftClean(lock, side);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a reader who waits to write can't get on, but is interrupted out of it, and reads on")
    void upgradeEndsByInterrupt(Contender contender) {
        against(contender);
        for (Acquisition way : INTERRUPTIBLE_WAITS) {
            CountDownLatch mayLeave = new CountDownLatch(1);
            Running<Boolean> upgrader = threads().start("upgrader", () -> {
                lock.readLock().lock();
                assertThatThrownBy(() -> way.on(lock.writeLock())).isExactlyInstanceOf(InterruptedException.class);
                assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
                assertHolds(lock, 0, 1);
                mayLeave.await();
                lock.readLock().unlock();
            });
            await("its hold").until(() -> lock.getReadLockCount() == 1);
            awaitWaiting(lock, upgrader.thread());

            assertThat(upgrader.endsWithin(shortWait())).isFalse();
            upgrader.thread().interrupt();

            Visitor reader = hold(side, View.READ);
            assertThat(lock.writeLock().tryLock()).isFalse();
            reader.leave();
            assertThat(side.writeLock().tryLock()).isFalse();
            mayLeave.countDown();
            upgrader.result();
            assertLeftClean(lock, side);
        }
    }

    @ParameterizedTest
    @EnumSource
    @DisplayName("an interrupt takes nothing from a holder, who releases as ever and keeps the flag set")
    void interruptDoesNotTouchHold(View view) {
        view.of(lock).lock();

        Thread.currentThread().interrupt();
        view.assertHeld(lock, 1);
        assertThat(Thread.currentThread().isInterrupted()).isTrue();
        view.of(lock).unlock();

        assertThat(Thread.interrupted()).as("flag after unlock()").isTrue();
        assertFree(lock);
        assertObtainable(lock);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("readers who wait keep their places when one of them is interrupted or runs out of time")
    void quittingReaderCostsNoPlace(Contender contender) {
        for (int quitter = 0; quitter < 3; quitter++) {
            ReentrantReadWriteLock lock = newLock();
            ReentrantReadWriteLock side = sideOf(contender, lock);
            Visitor holder = hold(side, View.WRITE);
            List<Visitor> readers = new ArrayList<>();
            for (int place = 0; place < 3; place++) {
                readers.add(queue("reader " + place, lock, View.READ, WAITS.get((place + 3 - quitter + 1) % 3)));
            }
            readers.add(queue("reader there", side, View.READ, Acquisition.LOCK));
            Visitor writer = queue("writer", side, View.WRITE, Acquisition.LOCK);

            Visitor impatient = visit("impatient", lock, View.READ, Entry.within(shortWait()));
            Visitor quitting = readers.remove(quitter);
            quitting.assertInterruptible();
            impatient.assertOutcome(Outcome.GAVE_UP);
            readers.get(0).assertStillWaits();
            readers.forEach(reader -> assertThat(reader.isIn()).isFalse());
            holder.leave();

            if (fifo(contender)) {
                readers.forEach(Visitor::awaitIn);
                assertThat(writer.isIn()).as("overtaken by the writer").isFalse();
            }
            writer.letGo();
            readers.forEach(Visitor::letGo);
            readers.forEach(Visitor::leave);
            writer.leave();
            assertLeftClean(lock, side);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("readers who wait with different time-outs each give up at their own time, and the others get in")
    void readersGiveUpAtTheirOwnTime(Contender contender) {
        Visitor holder = heldBy(contender, View.WRITE);
        List<Visitor> impatient = new ArrayList<>();
        List<Visitor> patient = new ArrayList<>();
        for (int wait : new int[] {4, 1, 3, 2, 1}) {
            Duration timeout = shortWait().multipliedBy(wait);
            patient.add(visit("waits", lock, View.READ, WAITS.get(wait % 3)::on));
            impatient.add(visit("waits here for " + timeout, lock, View.READ, Entry.within(timeout)));
            impatient.add(visit("waits there for " + timeout, side, View.READ, Entry.within(timeout)));
        }

        impatient.forEach(reader -> reader.assertOutcome(Outcome.GAVE_UP));
        patient.get(0).assertStillWaits();
        patient.forEach(reader -> assertThat(reader.isIn()).isFalse());
        holder.leave();

        patient.forEach(Visitor::awaitIn);
        patient.forEach(Visitor::leave);
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersAndViews")
    @DisplayName("however many come and quit meanwhile, a waiter gives up when its own time is over")
    void othersDoNotProlongWait(Contender contender, View view) {
        Visitor holder = heldBy(contender, View.WRITE);
        Visitor waiter = visit("waiter", lock, view, Entry.within(shortWait().multipliedBy(3)));
        Running<Boolean> restless = threads().start("restless", () -> {
            while (waiter.thread().isAlive()) {
                assertThat(view.of(lock).tryLock(1, TimeUnit.MILLISECONDS)).isFalse();
            }
        });

        waiter.assertOutcome(Outcome.GAVE_UP);
        restless.result();
        holder.leave();
        assertLeftClean(lock, side);
    }

    @ParameterizedTest
    @MethodSource("contendersAndConflicts")
    @DisplayName(
            "who is interrupted when it's let in either enters or throws, and leaves nothing behind in either case")
    void interruptRacesWithRelease(Contender contender, Conflict conflict) {
        against(contender);
        for (int race = 0; race < RACES; race++) {
            Visitor holder = hold(side, conflict.held);
            Visitor first = visit("first", lock, conflict.wanted, INTERRUPTIBLE_WAITS.get(race % 2)::on);
            Visitor second = visit("second", lock, conflict.wanted, Acquisition.LOCK::on);
            awaitWaiting(lock, second.thread());
            first.letGo();
            second.letGo();

            holder.letGo();
            first.thread().interrupt();

            holder.leave();
            second.leave();
            assertThat(first.outcome()).isNotEqualTo(Outcome.GAVE_UP);
            assertFree(lock);
            assertNobodyQueued(lock);
        }
        assertLeftClean(lock, side);
    }

    @Test
    @DisplayName("a burst of interrupted readers neither keeps a hold nor takes one from the reader inside")
    void interruptedReadersKeepNothing() {
        lock.readLock().lock();
        Visitor writer = queue("writer", lock, View.WRITE, Acquisition.LOCK);
        List<Visitor> readers = new ArrayList<>();
        for (int place = 0; place < 6; place++) {
            readers.add(queue("reader " + place, lock, View.READ, INTERRUPTIBLE_WAITS.get(place % 2)));
        }

        readers.forEach(reader -> reader.thread().interrupt());
        readers.forEach(reader -> reader.assertOutcome(Outcome.INTERRUPTED));

        assertHolds(lock, 0, 1);
        assertThat(lock.getReadLockCount()).isEqualTo(1);
        writer.assertStillWaits();
        lock.readLock().unlock();
        writer.leave();
        assertFree(lock);
    }
}
