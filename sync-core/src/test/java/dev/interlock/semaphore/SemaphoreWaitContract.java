package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Outcome;
import dev.interlock.testing.Visitors.Visitor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Waiting for permits of a {@link Semaphore}: who gets in when, and who gives up. */
abstract class SemaphoreWaitContract extends SemaphoreCountContract {

    @ParameterizedTest
    @MethodSource("contendersAndWaits")
    @DisplayName("who finds too few permits waits, in whatever way, and has them when they are released")
    void waitsThenEnters(Contender contender, Way way) {
        for (int count : new int[] {1, 2, 3}) {
            Visitor holder = heldBy(contender, 3, 3);
            Visitor waiter = queue("waiter", semaphore, count, way::on);

            waiter.assertStillWaits();
            holder.leave();
            waiter.awaitIn();
            assertPermits(semaphore, 3 - count);
            waiter.leave();

            assertLeftClean(semaphore, 3);
        }
    }

    @ParameterizedTest
    @MethodSource("contendersAndCounts")
    @DisplayName("tryAcquire() in vain: untimed or without time at once, timed when its time is over")
    void triesInVain(Contender contender, int count) throws InterruptedException {
        Visitor holder = heldBy(contender, 4 - count, 3);

        assertThat(semaphore.tryAcquire(count)).isFalse();
        assertInVainWithoutTime(
                (timeout, unit) -> semaphore.tryAcquire(count, timeout, unit), () -> assertNobodyQueued(semaphore));
        assertThat(within(shortWait()).acquire(semaphore, count)).isFalse();
        guest("impatient", semaphore, count, within(shortWait().multipliedBy(2)))
                .assertOutcome(Outcome.GAVE_UP);

        assertNobodyQueued(semaphore);
        assertSettled(semaphore, count - 1);
        holder.leave();
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contendersAndWays")
    @DisplayName("as many get in as there are permits, together, and the next one waits for any of them")
    void asManyAsThereArePermits(Contender contender, Way way) {
        against(contender, 4);
        List<Visitor> guests = new ArrayList<>();
        for (int place = 0; place < 4; place++) {
            guests.add(guest("guest " + place, place % 2 == 0 ? semaphore : side, 1, way::on)
                    .awaitIn());
        }

        assertPermits(semaphore, 0);
        Visitor next = queue("next", semaphore, 1, Way.ACQUIRE::on);
        next.assertStillWaits();
        guests.remove(1).leave();
        next.awaitIn();
        assertPermits(semaphore, 0);
        next.leave();
        guests.forEach(Visitor::leave);
        assertLeftClean(semaphore, 4);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("one release lets in as many as it serves, and no more")
    void oneReleaseServesSeveral(Contender contender) {
        Visitor holder = heldBy(contender, 3, 6);
        Visitor rest = hold(side, 3);
        List<Visitor> waiters = new ArrayList<>();
        for (int place = 0; place < 6; place++) {
            Semaphore through = place % 2 == 0 ? semaphore : side;
            waiters.add(queue("waiter " + place, through, 1, WAITS.get(place % 3)::on));
        }

        holder.leave();
        await("three are in").until(() -> waiters.stream().filter(Visitor::isIn).count() == 3);
        waiters.stream().filter(waiter -> !waiter.isIn()).findFirst().ifPresent(Visitor::assertStillWaits);
        assertThat(waiters.stream().filter(Visitor::isIn)).hasSize(3);
        rest.leave();
        waiters.forEach(Visitor::awaitIn);
        assertPermits(semaphore, 0);
        waiters.forEach(Visitor::leave);
        assertLeftClean(semaphore, 6);
    }

    @ParameterizedTest
    @MethodSource("contendersAndWaits")
    @DisplayName("who wants several gets in when all of them are there, and not before")
    void waitsForAllOfThem(Contender contender, Way way) {
        against(contender, 4);
        List<Visitor> holders = IntStream.range(0, 4)
                .mapToObj(place -> hold(place % 2 == 0 ? side : semaphore, 1))
                .toList();
        Visitor waiter = queue("waiter", semaphore, 3, way::on);

        holders.get(0).leave();
        waiter.assertStillWaits();
        holders.get(1).leave();
        waiter.assertStillWaits();
        holders.get(2).leave();
        waiter.awaitIn();
        assertPermits(semaphore, 0);
        waiter.leave();
        holders.get(3).leave();
        assertLeftClean(semaphore, 4);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("of several who want all permits each gets them, though they come back one by one and from all sides")
    void nobodyHoardsWhatOthersNeed(Contender contender) {
        for (int rounds = 0; rounds < 5; rounds++) {
            against(contender, 3);
            List<Visitor> holders = List.of(hold(semaphore, 1), hold(side, 1), hold(semaphore, 1));
            List<Visitor> waiters = List.of(
                    queue("here", semaphore, 3, Way.ACQUIRE::on),
                    queue("there", side, 3, Way.TIMED::on),
                    queue("here, too", semaphore, 2, Way.ACQUIRE::on),
                    queue("there, too", side, 2, Way.UNINTERRUPTIBLY::on));
            waiters.forEach(Visitor::letGo);

            holders.forEach(Visitor::leave);

            waiters.forEach(Visitor::leave);
            assertLeftClean(semaphore, 3);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("of those who want different numbers all get in, in the order in which there is room")
    void letsMixedCrowdIn(Contender contender) {
        Visitor holder = heldBy(contender, 5, 5);
        List<Visitor> waiters = new ArrayList<>();
        for (int place = 0; place < 9; place++) {
            Semaphore through = place % 2 == 0 ? semaphore : side;
            Visitor waiter = queue("waiter " + place, through, 1 + place * 2 % 5, WAITS.get(place % 3)::on);
            waiter.letGo();
            waiters.add(waiter);
        }

        holder.leave();
        waiters.forEach(Visitor::leave);

        assertLeftClean(semaphore, 5);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a small request gets in when a larger one before it gives up")
    void largeOneThatGivesUpMakesWay(Contender contender) {
        Visitor holder = heldBy(contender, 2, 4);
        for (Semaphore through : List.of(side, semaphore)) {
            Visitor large = queue("large", side, 3, within(shortWait().multipliedBy(10)));
            Visitor small = guest("small", through, 2, Way.ACQUIRE::on);
            if (smallWaitsBehindLarge(Contender.SAME_OBJECT)) {
                awaitQueuedOrIn(through, small);
            }

            large.assertOutcome(Outcome.GAVE_UP);
            small.awaitIn();
            small.leave();
            assertSettled(semaphore, 2);
        }
        holder.leave();
        assertLeftClean(semaphore, 4);
    }

    private void awaitQueuedOrIn(Semaphore semaphore, Visitor guest) {
        await("in or waits")
                .until(() ->
                        guest.isIn() || SemaphoreProbe.queuedThreads(semaphore).contains(guest.thread()));
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("who holds nothing can let a waiter in")
    void anybodyCanSignal(Contender contender) {
        against(contender, 0);
        for (int signal = 1; signal <= 3; signal++) {
            guests().limit(signal);
            Visitor waiter = queue("waiter", semaphore, signal, Way.ACQUIRE::on);

            side.release();

            waiter.leave();
            assertPermits(semaphore, signal);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("what is taken away under a waiter has to be released first")
    void reductionComesBeforeWaiters(Contender contender) {
        Visitor holder = heldBy(contender, 2, 2);
        Visitor waiter = queue("waiter", semaphore, 1, Way.ACQUIRE::on);

        SemaphoreProbe.reducePermits(semaphore, 2);
        assertPermits(semaphore, -2);
        holder.leave();
        waiter.assertStillWaits();
        side.release();
        waiter.awaitIn();
        waiter.leave();

        assertLeftClean(semaphore, 1);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("drainPermits() takes what a waiter can't use yet, who gets in when there are enough again")
    void drainsUnderAWaiter(Contender contender) {
        Visitor holder = heldBy(contender, 1, 3);
        Visitor waiter = queue("waiter", semaphore, 3, Way.ACQUIRE::on);

        assertThat(side.drainPermits()).isEqualTo(2);
        assertPermits(semaphore, 0);
        holder.leave();
        waiter.assertStillWaits();
        side.release(2);
        waiter.leave();

        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("drainPermits() of a debt lets in whom the debt has kept out")
    void drainingADebtLetsIn(Contender contender) {
        against(contender, -2);
        guests().limit(1);
        Visitor waiter = queue("waiter", semaphore, 1, Way.ACQUIRE::on);

        assertThat(side.drainPermits()).isEqualTo(-2);
        waiter.assertStillWaits();
        side.release();
        waiter.leave();

        assertLeftClean(semaphore, 1);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("waiters with different time-outs each give up at their own time, and the others get in")
    void giveUpAtTheirOwnTime(Contender contender) {
        Visitor holder = heldBy(contender, 3, 3);
        List<Visitor> impatient = new ArrayList<>();
        List<Visitor> patient = new ArrayList<>();
        for (int wait : new int[] {4, 1, 3, 2, 1}) {
            Duration timeout = shortWait().multipliedBy(wait);
            int permits = 1 + wait % 3;
            patient.add(guest("waits", semaphore, permits, WAITS.get(wait % 3)::on));
            impatient.add(guest("waits here for " + timeout, semaphore, permits, within(timeout)));
            impatient.add(guest("waits there for " + timeout, side, permits, within(timeout)));
        }

        impatient.forEach(waiter -> waiter.assertOutcome(Outcome.GAVE_UP));
        patient.get(0).assertStillWaits();
        patient.forEach(waiter -> assertThat(waiter.isIn()).isFalse());
        patient.forEach(Visitor::letGo);
        holder.leave();

        patient.forEach(Visitor::leave);
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contendersAndCounts")
    @DisplayName("however many come and quit meanwhile, a waiter gives up when its own time is over")
    void othersDoNotProlongWait(Contender contender, int count) {
        Visitor holder = heldBy(contender, 3, 3);
        Visitor waiter = guest("waiter", semaphore, count, within(shortWait().multipliedBy(3)));
        Running<Boolean> restless = threads().start("restless", () -> {
            while (waiter.thread().isAlive()) {
                assertThat(semaphore.tryAcquire(1, 1, TimeUnit.MILLISECONDS)).isFalse();
            }
        });

        waiter.assertOutcome(Outcome.GAVE_UP);
        restless.result();
        holder.leave();
        assertLeftClean(semaphore, 3);
    }
}
