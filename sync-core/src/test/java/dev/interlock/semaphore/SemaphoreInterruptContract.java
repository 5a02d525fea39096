package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Visitors.Outcome;
import dev.interlock.testing.Visitors.Visitor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Interrupting those who use a {@link Semaphore}, and what those who quit do to those who stay. */
abstract class SemaphoreInterruptContract extends SemaphoreWaitContract {

    private static final int RACES = 10;

    @Test
    @DisplayName("acquireUninterruptibly(), untimed tryAcquire() and all that doesn't wait "
            + "ignore the interrupt flag and leave it set")
    void ignoresInterruptFlag() {
        Semaphore semaphore = newSemaphore(5);
        Thread.currentThread().interrupt();

        semaphore.acquireUninterruptibly();
        semaphore.acquireUninterruptibly(2);
        assertThat(semaphore.tryAcquire()).isTrue();
        assertThat(semaphore.tryAcquire(2)).isFalse();
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        assertThat(semaphore.drainPermits()).isEqualTo(1);
        semaphore.release();
        semaphore.release(5);
        SemaphoreProbe.reducePermits(semaphore, 1);

        assertThat(Thread.interrupted()).as("flag").isTrue();
        assertPermits(semaphore, 5);
    }

    @ParameterizedTest
    @EnumSource(names = {"ACQUIRE", "TIMED"})
    @DisplayName(
            "an interruptible way throws with the flag set though permits are there, takes none, and clears the flag")
    void interruptFlagForbidsEntry(Way way) {
        Semaphore semaphore = semaphore(3);

        for (int count : new int[] {1, 3, 0}) {
            assertThrowsInterrupted(() -> way.on(semaphore, count));
        }
        assertThrowsInterrupted(() -> semaphore.tryAcquire(1, 0, NANOS));
        assertThrowsInterrupted(() -> semaphore.tryAcquire(Long.MIN_VALUE, TimeUnit.DAYS));

        assertSettled(semaphore, 3);
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleWaits")
    @DisplayName("an interruptible way throws with the flag set instead of waiting, and leaves nothing behind")
    void interruptFlagForbidsWait(Contender contender, Way way) {
        Visitor holder = heldBy(contender, 2, 3);

        assertThrowsInterrupted(() -> way.on(semaphore, 2));

        assertNobodyQueued(semaphore);
        assertSettled(semaphore, 1);
        holder.leave();
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleWaits")
    @DisplayName("an interrupted waiter throws, with the flag cleared, takes nothing and lets everybody else in")
    void interruptEndsWait(Contender contender, Way way) {
        for (int count : new int[] {1, 3}) {
            Visitor holder = heldBy(contender, 3, 3);
            Visitor waiter = queue("waiter", semaphore, count, way::on);

            waiter.assertInterruptible();

            assertNobodyQueued(semaphore);
            assertSettled(semaphore, 0);
            holder.leave();
            assertLeftClean(semaphore, 3);
        }
    }

    @ParameterizedTest
    @MethodSource("contendersAndCounts")
    @DisplayName("acquireUninterruptibly() waits on however often it's interrupted, before or meanwhile, "
            + "and returns with the flag set")
    void interruptDoesNotEndUninterruptibleWait(Contender contender, int count) {
        Visitor holder = heldBy(contender, 3, 3);
        Visitor flagged = queue("flagged", semaphore, count, (mine, permits) -> {
            Thread.currentThread().interrupt();
            mine.acquireUninterruptibly(permits);
            return Thread.currentThread().isInterrupted();
        });
        Visitor interrupted = queue("interrupted", semaphore, count, (mine, permits) -> {
            mine.acquireUninterruptibly(permits);
            return Thread.currentThread().isInterrupted();
        });

        for (int interrupts = 0; interrupts < 2; interrupts++) {
            interrupted.thread().interrupt();
            interrupted.assertStillWaits();
        }
        assertThat(flagged.isIn()).isFalse();
        flagged.letGo();
        interrupted.letGo();
        holder.leave();
        flagged.leave();
        interrupted.leave();

        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contendersAndInterruptibleWaits")
    @DisplayName("a small request gets in when a larger one before it is interrupted")
    void largeOneThatIsInterruptedMakesWay(Contender contender, Way way) {
        Visitor holder = heldBy(contender, 2, 4);
        for (Semaphore through : List.of(semaphore, side)) {
            Visitor large = queue("large", side, 3, way::on);
            Visitor small = guest("small", through, 1, Way.ACQUIRE::on);
            Visitor another = guest("another", semaphore, 1, Way.UNINTERRUPTIBLY::on);

            large.assertInterruptible();

            small.awaitIn();
            another.awaitIn();
            assertPermits(semaphore, 0);
            small.leave();
            another.leave();
        }
        holder.leave();
        assertLeftClean(semaphore, 4);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("waiters keep their places when one of them is interrupted, and another one runs out of time")
    void quitterCostsNoPlace(Contender contender) {
        for (int quitter = 0; quitter < 3; quitter++) {
            Visitor holder = heldBy(contender, 2, 2);
            List<Visitor> waiters = new ArrayList<>();
            for (int place = 0; place < 3; place++) {
                Way way = place == quitter ? INTERRUPTIBLE_WAITS.get(quitter % 2) : WAITS.get(place);
                waiters.add(queue("waiter " + place, semaphore, 2, way::on));
            }
            Visitor last = queue("last", semaphore, 2, Way.ACQUIRE::on);
            Visitor impatient = guest("impatient", side, 2, within(shortWait()));

            Visitor quitting = waiters.remove(quitter);
            quitting.assertInterruptible();
            impatient.assertOutcome(Outcome.GAVE_UP);
            waiters.get(0).assertStillWaits();
            holder.leave();

            if (fair()) {
                waiters.get(0).awaitIn();
                assertThat(waiters.get(1).isIn()).as("the second is in").isFalse();
                waiters.get(0).leave();
                waiters.get(1).awaitIn();
                assertThat(last.isIn()).as("the last is in").isFalse();
            }
            last.letGo();
            waiters.forEach(Visitor::letGo);
            waiters.forEach(Visitor::leave);
            last.leave();
            assertLeftClean(semaphore, 2);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "who is interrupted when permits come either has them or throws, and none is lost or gained in either case")
    void interruptRacesWithRelease(Contender contender) {
        against(contender, 3);
        for (int race = 0; race < RACES; race++) {
            Visitor holder = hold(side, 3);
            Visitor first = guest("first", semaphore, 1 + race % 3, INTERRUPTIBLE_WAITS.get(race % 2)::on);
            Visitor second = guest("second", semaphore, 1 + race % 2, Way.UNINTERRUPTIBLY::on);
            Visitor third = guest("third", side, 2, Way.ACQUIRE::on);
            awaitWaiting(semaphore, second.thread());
            first.letGo();
            second.letGo();
            third.letGo();

            holder.letGo();
            first.thread().interrupt();

            holder.leave();
            second.leave();
            third.leave();
            assertThat(first.outcome()).isNotEqualTo(Outcome.GAVE_UP);
            assertSettled(semaphore, 3);
        }
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a burst of interrupted waiters takes no permits")
    void interruptedCrowdTakesNothing(Contender contender) {
        Visitor holder = heldBy(contender, 2, 3);
        List<Visitor> waiters = new ArrayList<>();
        for (int place = 0; place < 6; place++) {
            Semaphore through = place % 2 == 0 ? semaphore : side;
            waiters.add(queue("waiter " + place, through, 2, INTERRUPTIBLE_WAITS.get(place / 3)::on));
        }

        waiters.forEach(waiter -> waiter.thread().interrupt());
        waiters.forEach(waiter -> waiter.assertOutcome(Outcome.INTERRUPTED));

        assertSettled(semaphore, 1);
        holder.leave();
        assertLeftClean(semaphore, 3);
    }

    @Test
    @DisplayName("an interrupt takes nothing from who has permits, who releases them as ever and keeps the flag set")
    void interruptDoesNotTouchHolder() throws InterruptedException {
        Semaphore semaphore = newSemaphore(2);
        semaphore.acquire(2);

        Thread.currentThread().interrupt();
        assertThat(semaphore.tryAcquire()).isFalse();
        semaphore.release(2);

        assertThat(Thread.interrupted()).as("flag after release()").isTrue();
        assertPermits(semaphore, 2);
    }
}
