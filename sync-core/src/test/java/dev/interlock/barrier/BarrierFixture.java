package dev.interlock.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ContractFixture;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What {@link CyclicBarrierContract} asks of a subclass, and the means its tests share. A contender is through which
 * object the other parties come.
 */
@SuppressWarnings("NullAway.Init") // a test that needs them begins with against()
abstract class BarrierFixture extends ContractFixture<CyclicBarrier> {
    /** How a thread waits. */
    interface Waiting {
        int at(CyclicBarrier barrier) throws InterruptedException, BrokenBarrierException, TimeoutException;
    }

    /** What a thread has met: an index, or what was thrown, and its interrupt flag. */
    record Met(int index, @Nullable Throwable thrown, boolean flagged) {
        void assertIndex(int expected) {
            assertThat(thrown).isNull();
            assertThat(index).isEqualTo(expected);
        }

        void assertThrown(Class<? extends Throwable> expected) {
            assertThat(thrown).isExactlyInstanceOf(expected);
        }
    }

    static final Duration LONG = Duration.ofSeconds(20);

    static final Waiting UNTIMED = CyclicBarrier::await;
    static final Waiting TIMED = within(LONG);

    /** The barrier of a test, and the object through which the contender comes to it. */
    CyclicBarrier barrier;

    CyclicBarrier side;

    /** A barrier that is not broken and at which nobody waits. */
    protected abstract CyclicBarrier newBarrier(int parties, @Nullable Runnable action);

    /** The same barrier in another session, with the same action. */
    protected Optional<CyclicBarrier> rivalOf(CyclicBarrier barrier, @Nullable Runnable action) {
        return Optional.empty();
    }

    @Override
    protected final CyclicBarrier sample() {
        return newBarrier(1, null);
    }

    @Override
    protected final Optional<CyclicBarrier> rivalOf(CyclicBarrier barrier) {
        return rivalOf(barrier, null);
    }

    /** How many generations a test of many has. */
    protected int generations() {
        return 200;
    }

    /** Begins a test against this contender. */
    final void against(Contender contender, int parties) {
        against(contender, parties, null);
    }

    final void against(Contender contender, int parties, @Nullable Runnable action) {
        barrier = newBarrier(parties, action);
        side = contender == Contender.SAME_OBJECT
                ? barrier
                : rivalOf(barrier, action).orElseThrow();
    }

    /** Asserts that these are broken by what befalls another one. */
    @SafeVarargs
    static void assertBroken(Running<Met>... waiters) {
        for (Running<Met> waiter : waiters) {
            waiter.result().assertThrown(BrokenBarrierException.class);
        }
    }

    static Waiting within(Duration time) {
        return barrier -> barrier.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Has this thread wait, and returns what it meets. */
    static Met meet(CyclicBarrier barrier, Waiting waiting) {
        try {
            return new Met(waiting.at(barrier), null, Thread.currentThread().isInterrupted());
        } catch (Throwable thrown) {
            return new Met(-1, thrown, Thread.currentThread().isInterrupted());
        }
    }

    /** Lets another thread come. */
    final Running<Met> come(CyclicBarrier barrier, Waiting waiting) {
        return threads().start("party", () -> meet(barrier, waiting));
    }

    /** Lets another thread come, and returns once so many have arrived. */
    final Running<Met> come(CyclicBarrier barrier, Waiting waiting, int arrived) {
        Running<Met> running = come(barrier, waiting);
        awaitArrived(barrier, arrived);
        return running;
    }

    final void awaitArrived(CyclicBarrier barrier, int count) {
        await(count + " threads").until(() -> barrier.getNumberWaiting() == count);
    }

    /** Asserts that it can be used, by threads that come through both objects. */
    final void assertTrips(CyclicBarrier barrier, CyclicBarrier side) {
        assertThat(barrier.isBroken()).as("broken").isFalse();
        assertThat(side.isBroken()).as("broken there").isFalse();
        int parties = barrier.getParties();
        @SuppressWarnings({"unchecked", "rawtypes"})
        Running<Met>[] all = new Running[parties];
        for (int i = 0; i < parties; i++) {
            all[i] = i < parties - 1 ? come(side, UNTIMED, i + 1) : come(barrier, UNTIMED);
        }
        for (int i = 0; i < parties; i++) {
            all[i].result().assertIndex(parties - 1 - i);
        }
        assertThat(barrier.getNumberWaiting()).isZero();
        assertThat(side.getNumberWaiting()).isZero();
    }

    /** Asserts that it is broken for all who come, and not after a reset. */
    final void assertBrokenUntilReset(CyclicBarrier barrier, CyclicBarrier side) {
        for (CyclicBarrier end : new CyclicBarrier[] {barrier, side}) {
            assertThat(end.isBroken()).as("broken").isTrue();
            assertThat(end.getNumberWaiting()).isZero();
            meet(end, UNTIMED).assertThrown(BrokenBarrierException.class);
            meet(end, TIMED).assertThrown(BrokenBarrierException.class);
            meet(end, within(Duration.ZERO)).assertThrown(BrokenBarrierException.class);
        }
        side.reset();
        assertTrips(barrier, side);
    }
}
