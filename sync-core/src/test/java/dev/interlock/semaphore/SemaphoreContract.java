package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.Visitors.Visitor;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of {@link Semaphore}, which every semaphore that extends it keeps. {@link JdkSemaphoreTest} runs it on
 * the JDK's own class, the oracle. To run it on another, extend this class; the hooks are in {@link SemaphoreFixture}.
 *
 * <p>A chain of classes, one per subject: {@linkplain SemaphoreCountContract counting},
 * {@linkplain SemaphoreWaitContract waiting}, {@linkplain SemaphoreInterruptContract interrupting},
 * {@linkplain SemaphoreQueueContract looking on}, and here the order in which waiters get in, and storms.
 */
abstract class SemaphoreContract extends SemaphoreQueueContract {

    private static final int WAITERS = 6;
    private static final int THREADS = 6;
    private static final List<Way> WAYS = List.of(Way.values());

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("everybody who waits gets in, and if the semaphore is fair in the order of arrival, whatever he wants")
    void letsWaitersIn(Contender contender) {
        Visitor holder = heldBy(contender, 3, 3);
        List<Integer> entered = Collections.synchronizedList(new ArrayList<>());
        List<Visitor> waiters = new ArrayList<>();
        for (int place = 0; place < WAITERS; place++) {
            int mine = place;
            // No two of them fit in together, lest they race for their entry in the list.
            int count = place % 3 == 1 ? 3 : 2;
            Visitor waiter = queue("waiter " + place, place % 2 == 0 ? semaphore : side, count, (through, permits) -> {
                through.acquire(permits);
                return entered.add(mine);
            });
            waiter.letGo();
            waiters.add(waiter);
        }

        holder.leave();
        waiters.forEach(Visitor::leave);

        assertOrder(contender, entered, WAITERS);
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("acquire() waits behind a larger request if the semaphore is fair, "
            + "and untimed tryAcquire() doesn't, whether or not")
    void smallRequestMeetsLargeOne(Contender contender) {
        Visitor holder = heldBy(contender, 1, 3);
        Visitor large = queue("large", side, 3, Way.ACQUIRE::on);

        assertThat(semaphore.tryAcquire())
                .as("tryAcquire() beside a large request")
                .isTrue();
        semaphore.release();
        Visitor small = guest("small", semaphore, 1, Way.ACQUIRE::on);
        if (smallWaitsBehindLarge(contender)) {
            awaitWaiting(semaphore, small.thread());
            small.assertStillWaits();
            large.letGo();
            holder.leave();
        } else {
            small.leave();
            holder.leave();
            large.letGo();
        }
        large.leave();
        small.leave();
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a fair semaphore serves a large request though small ones keep coming")
    void smallOnesDoNotStarveALargeOne(Contender contender) {
        if (!smallWaitsBehindLarge(contender)) {
            return;
        }
        against(contender, 3);
        AtomicBoolean served = new AtomicBoolean();
        AtomicInteger turns = new AtomicInteger();
        List<Running<Boolean>> crowd = startCrowd(4, semaphore, side, (member, mine) -> {
            while (!served.get()) {
                mine.acquire();
                turns.incrementAndGet();
                LockSupport.parkNanos(100_000);
                mine.release();
            }
            return true;
        });
        await("the crowd runs").until(() -> turns.get() > 10);

        try {
            for (int round = 0; round < 3; round++) {
                guest("large", round % 2 == 0 ? semaphore : side, 3, Way.ACQUIRE::on)
                        .leave();
            }
        } finally {
            served.set(true);
        }
        crowd.forEach(Running::result);
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("tryAcquire(0, unit) doesn't overtake those who wait for a fair semaphore")
    void zeroTimeoutKeepsFairness(Contender contender) throws InterruptedException {
        against(contender, 1);
        semaphore.acquire();
        Visitor waiter = queue("waiter", side, 1, Way.ACQUIRE::on);

        semaphore.release();
        boolean overtaken = semaphore.tryAcquire(0, NANOS);
        if (overtaken) {
            semaphore.release();
        }
        waiter.leave();

        assertThat(overtaken && fifo(contender)).as("overtaken").isFalse();
        assertLeftClean(semaphore, 1);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "tryAcquire(0, unit) of a fair semaphore leaves permits to one that waits for more, that of others doesn't")
    void zeroTimeoutLeavesPermitsToThoseWhoWait(Contender contender) throws InterruptedException {
        Visitor holder = heldBy(Contender.SAME_OBJECT, 2, 3);
        Semaphore other = sideOf(contender, semaphore);
        Visitor waiter = queue("waiter", semaphore, 2, Way.ACQUIRE::on);

        boolean acquired = other.tryAcquire(1, 0, NANOS);
        if (acquired) {
            other.release();
        }

        assertThat(acquired).as("acquired").isEqualTo(!fair());
        waiter.assertStillWaits();
        holder.leave();
        waiter.leave();
        assertLeftClean(semaphore, 3);
    }

    @Test
    @DisplayName("a fair semaphore that is free serves tryAcquire(0, unit) at once")
    void zeroTimeoutTakesWhatIsFree() throws InterruptedException {
        Semaphore semaphore = newSemaphore(2);
        for (Semaphore side : sides(semaphore)) {
            assertThat(side.tryAcquire(0, NANOS)).isTrue();
        }
        assertPermits(semaphore, 2 - sides(semaphore).size());
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("what one writes before release(), all those see who acquire after it, and nobody by halves")
    void excludes(Contender contender) {
        against(contender, 1);
        Ledger ledger = new Ledger(contender == Contender.SAME_OBJECT);
        List<Running<Integer>> crowd = startCrowd(THREADS, semaphore, side, (member, mine) -> {
            int writes = 0;
            for (int turn = 0; turn < crowd() / THREADS; turn++) {
                if (WAYS.get(turn % 4).on(mine, 1)) {
                    ledger.write();
                    writes++;
                    mine.release();
                }
            }
            return writes;
        });

        int writes = crowd.stream().mapToInt(Running::result).sum();

        assertThat(ledger.read()).isEqualTo(writes);
        assertLeftClean(semaphore, 1);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("through a storm of interrupts and time-outs never more permits are in use than there are, "
            + "and afterwards all are back")
    void survivesStorm(Contender contender) {
        int permits = 5;
        against(contender, permits);
        AtomicInteger inUse = new AtomicInteger();
        List<Running<Integer>> crowd = startCrowd(THREADS, semaphore, side, (member, mine) -> {
            Random random = new Random(member);
            int served = 0;
            for (int turn = 0; turn < crowd() / THREADS; turn++) {
                int count = 1 + random.nextInt(3);
                if (enters(mine, count, random)) {
                    assertThat(inUse.addAndGet(count)).as("in use").isLessThanOrEqualTo(permits);
                    if (random.nextInt(8) == 0) {
                        LockSupport.parkNanos(50_000);
                    }
                    inUse.addAndGet(-count);
                    mine.release(count);
                    served++;
                }
            }
            return served;
        });

        interruptUntilDone(crowd);
        assertThat(crowd.stream().mapToInt(Running::result)).as("served").allMatch(served -> served > 0);
        assertLeftClean(semaphore, permits);
    }

    private static boolean enters(Semaphore semaphore, int count, Random random) {
        try {
            if (random.nextBoolean()) {
                return WAYS.get(random.nextInt(4)).on(semaphore, count);
            }
            // From hopeless to generous, as measured by a hand-off: 1 ns to 2 ms.
            return semaphore.tryAcquire(count, 1L << random.nextInt(22), NANOS);
        } catch (InterruptedException e) {
            return false;
        }
    }

    /**
     * Two cells that are written one after the other. Plain memory is for those who share an object, since it's no
     * promise of a semaphore that what one session has written is seen by another.
     */
    @SuppressWarnings("ThreadPriorityCheck") // The invitation to run in between is the point.
    private static final class Ledger {
        private final AtomicInteger first = new AtomicInteger();
        private final AtomicInteger second = new AtomicInteger();
        private final boolean plain;

        Ledger(boolean plain) {
            this.plain = plain;
        }

        void write() {
            int next = read() + 1;
            set(first, next);
            Thread.yield();
            set(second, next);
        }

        int read() {
            int value = get(first);
            assertThat(get(second)).as("second cell").isEqualTo(value);
            return value;
        }

        private int get(AtomicInteger cell) {
            return plain ? cell.getPlain() : cell.get();
        }

        private void set(AtomicInteger cell, int value) {
            if (plain) {
                cell.setPlain(value);
            } else {
                cell.set(value);
            }
        }
    }
}
