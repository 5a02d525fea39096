package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.Visitors.Outcome;
import dev.interlock.testing.Visitors.Visitor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Looking at those who wait for permits of a {@link Semaphore}. */
abstract class SemaphoreQueueContract extends SemaphoreInterruptContract {

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the queue shows the threads that wait on this object, and no others, until they have what they want")
    void showsWaiters(Contender contender) {
        Visitor holder = heldBy(contender, 3, 3);
        List<Visitor> waiters = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int count : new int[] {1, 3, 2, 1}) {
            Visitor waiter = queue("waiter for " + count, semaphore, count, WAITS.get(count - 1)::on);
            waiters.add(waiter);
            threads.add(waiter.thread());
            assertQueued(semaphore, threads);
        }
        if (contender == Contender.OTHER_SESSION) {
            assertNobodyQueued(side);
        }

        letIn(holder, waiters);

        assertNobodyQueued(semaphore);
        assertLeftClean(semaphore, 3);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("who gives up or is interrupted leaves the queue at once, the others stay")
    void hidesQuitters(Contender contender) {
        Visitor holder = heldBy(contender, 1, 1);
        Visitor interrupted = queue("interrupted", semaphore, 1, Way.ACQUIRE::on);
        Visitor stays = queue("stays", semaphore, 1, Way.UNINTERRUPTIBLY::on);
        Visitor impatient = guest("impatient", semaphore, 1, within(shortWait()));

        impatient.assertOutcome(Outcome.GAVE_UP);
        assertQueued(semaphore, List.of(interrupted.thread(), stays.thread()));
        interrupted.assertInterruptible();
        assertQueued(semaphore, List.of(stays.thread()));
        holder.leave();
        stays.leave();

        assertLeftClean(semaphore, 1);
    }

    private static void assertQueued(Semaphore semaphore, List<Thread> waiters) {
        assertThat(SemaphoreProbe.queuedThreads(semaphore).toArray()).containsExactlyInAnyOrder(waiters.toArray());
        assertThat(semaphore.getQueueLength()).isEqualTo(waiters.size());
        assertThat(semaphore.hasQueuedThreads()).isTrue();
    }

    @ParameterizedTest
    @MethodSource("contendersAndCounts")
    @DisplayName("waiters don't count as holders: what they can't use yet is shown as available")
    void waitersHoldNothing(Contender contender, int count) {
        Visitor holder = heldBy(contender, 3, 5);
        Visitor waiter = queue("waiter", semaphore, 2 + count, Way.ACQUIRE::on);

        assertPermits(semaphore, 2);
        if (!deviates(Deviation.TO_STRING_TELLS_NO_PERMITS)) {
            assertThat(semaphore.toString()).contains("Permits = 2");
        }
        holder.leave();
        waiter.awaitIn();
        assertPermits(semaphore, 3 - count);
        waiter.leave();

        assertLeftClean(semaphore, 5);
    }
}
