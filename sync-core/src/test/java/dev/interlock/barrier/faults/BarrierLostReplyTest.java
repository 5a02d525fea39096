package dev.interlock.barrier.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.Loss;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A command of a barrier whose answer is lost, or which arrives twice, has the effect of one command. */
@Tag("proof")
class BarrierLostReplyTest extends BarrierFaultFixture {

    static Stream<Loss> losses() {
        return Stream.of(Loss.CUT, Loss.MUTE);
    }

    @ParameterizedTest
    @MethodSource("losses")
    void arrivalCountsOnce(Loss loss) {
        Interlock session = session();
        DistributedCyclicBarrier barrier = of(session, 3);
        DistributedCyclicBarrier other = of(undisturbed(), 3);
        proxy().dropReplies(meetingOf(session), 1, loss);
        CompletableFuture<Integer> first = come(barrier);
        await("lost").until(() -> dropped() > 0);
        await("repetitions").during(Duration.ofMillis(1_300)).until(() -> stored("arrived") == 1);
        CompletableFuture<Integer> second = come(other);
        awaitArrived(2);
        CompletableFuture<Integer> last = come(other);
        assertThat(last).succeedsWithin(PROMPTLY).isEqualTo(0);
        assertThat(second).succeedsWithin(PROMPTLY).isEqualTo(1);
        assertThat(first).succeedsWithin(REPEATED).isEqualTo(2);
        assertTrips(barrier, other);
    }

    /** The answer that says that the action has to be run, or the one that it has been, is lost. */
    @ParameterizedTest
    @MethodSource("losses")
    void actionIsRunOnce(Loss loss) {
        for (int answered = 0; answered < 2; answered++) {
            flushAll();
            Interlock session = session();
            Interlock others = undisturbed();
            AtomicInteger runs = new AtomicInteger();
            boolean actionFirst = answered == 1;
            Runnable action = () -> {
                runs.incrementAndGet();
                if (actionFirst) {
                    proxy().dropReplies(meetingOf(session), 1, loss);
                }
            };
            DistributedCyclicBarrier barrier = of(session, 2, action);
            DistributedCyclicBarrier other = of(others, 2);
            CompletableFuture<Integer> first = come(other);
            awaitArrived(1);
            if (!actionFirst) {
                proxy().dropReplies(meetingOf(session), 1, loss);
            }
            CompletableFuture<Integer> last = come(barrier);
            assertThat(last).succeedsWithin(REPEATED).isEqualTo(0);
            assertThat(first).succeedsWithin(REPEATED).isEqualTo(1);
            assertThat(runs).hasValue(1);
            proxy().heal();
            session.close();
            others.close();
        }
        assertThat(dropped()).isGreaterThanOrEqualTo(2);
    }

    /** Every command once more when other generations are on: nothing moves. */
    @Test
    void lateDuplicatesChangeNothing() {
        Interlock session = session();
        DistributedCyclicBarrier barrier = of(session, 2);
        DistributedCyclicBarrier other = of(undisturbed(), 2);
        long before = proxy().duplicated();
        proxy().duplicateRequests(meetingOf(session), Duration.ofSeconds(1), 6);
        for (int i = 0; i < 3; i++) {
            assertTrips(barrier, other);
        }
        resetter().run(barrier::reset);
        assertThrows(come(barrier, Duration.ZERO), PROMPTLY, TimeoutException.class);
        other.reset();
        CompletableFuture<Integer> first = come(other);
        awaitArrived(1);
        long generation = stored("generation");
        await("duplicates").until(() -> proxy().duplicated() - before >= 5);
        assertThat(stored("generation")).isEqualTo(generation);
        assertThat(stored("arrived")).isEqualTo(1);
        assertThat(state()).isEqualTo("open");
        assertTripsWith(barrier, first, PROMPTLY, PROMPTLY);
    }
}
