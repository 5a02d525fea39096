package dev.interlock.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** What {@link CyclicBarrierContract} asks of a subclass, and the means its tests share. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class BarrierFixture {

    /** Through which object the other parties come. */
    enum Company {
        SAME_OBJECT,
        OTHER_SESSION
    }

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

    private TestThreads threads = new TestThreads(patience());

    /** A barrier that is not broken and at which nobody waits. */
    protected abstract CyclicBarrier newBarrier(int parties, @Nullable Runnable action);

    /** The same barrier in another session, with the same action. */
    protected Optional<CyclicBarrier> peerOf(CyclicBarrier barrier, @Nullable Runnable action) {
        return Optional.empty();
    }

    /** The longest that anything may take which has to happen. */
    protected Duration patience() {
        return Duration.ofSeconds(20);
    }

    /** How long tests watch for what must not happen, and let a timeout run. */
    protected Duration shortWait() {
        return Duration.ofMillis(40);
    }

    /** How many generations a test of many has. */
    protected int generations() {
        return 200;
    }

    @BeforeEach
    final void beginThreads() {
        threads = new TestThreads(patience());
    }

    @AfterEach
    final void endThreads() {
        threads.close();
    }

    final TestThreads threads() {
        return threads;
    }

    /** Not a constant: without another session that half isn't there at all, rather than skipped. */
    final Stream<Company> companies() {
        return peerOf(newBarrier(1, null), null).isPresent()
                ? Stream.of(Company.values())
                : Stream.of(Company.SAME_OBJECT);
    }

    /** The object through which the company comes to {@code barrier}. */
    final CyclicBarrier sideOf(Company company, CyclicBarrier barrier) {
        return sideOf(company, barrier, null);
    }

    final CyclicBarrier sideOf(Company company, CyclicBarrier barrier, @Nullable Runnable action) {
        return company == Company.SAME_OBJECT
                ? barrier
                : peerOf(barrier, action).orElseThrow();
    }

    static Waiting within(Duration time) {
        return barrier -> barrier.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    final ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(patience())
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .pollInSameThread();
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
        return threads.start("party", () -> meet(barrier, waiting));
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

    final void assertStillWaits(Running<?> waiter) {
        assertThat(waiter.endsWithin(shortWait())).as("it has returned").isFalse();
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
