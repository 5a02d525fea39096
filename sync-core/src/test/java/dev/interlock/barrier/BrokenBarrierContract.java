package dev.interlock.barrier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.testing.TestThreads.Running;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** How barriers break, and are mended. */
abstract class BrokenBarrierContract extends BarrierFixture {

    static void awaitUninterruptibly(CountDownLatch latch) {
        Uninterruptibles.awaitUninterruptibly(latch);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a thread whose time is over breaks the generation, not before: "
            + "it gets TimeoutException, the others are broken")
    void timeoutBreaks(Contender contender) {
        against(contender, 4);
        Running<Met> first = come(barrier, UNTIMED, 1);
        Running<Met> second = come(side, TIMED, 2);
        long begin = System.nanoTime();
        Met late = meet(side, within(shortWait()));
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(shortWait().toNanos());
        late.assertThrown(TimeoutException.class);
        assertBroken(first, second);
        assertBrokenUntilReset(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("without time a thread that isn't the last breaks the generation at once")
    void noTimeBreaks(Contender contender) {
        for (Duration time : List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofDays(-1))) {
            against(contender, 3);
            Running<Met> first = come(barrier, UNTIMED, 1);
            meet(side, within(time)).assertThrown(TimeoutException.class);
            assertBroken(first);
            assertBrokenUntilReset(barrier, side);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("of several threads whose time is over one breaks the generation, and the others are broken by it")
    void oneTimeoutBreaks(Contender contender) {
        against(contender, 5);
        List<Running<Met>> waiters = Stream.of(barrier, side, barrier, side)
                .map(end -> come(end, within(shortWait().multipliedBy(4))))
                .toList();
        List<? extends Class<?>> thrown = waiters.stream()
                .<Class<?>>map(one -> requireNonNull(one.result().thrown()).getClass())
                .toList();
        assertThat(thrown.stream().filter(TimeoutException.class::equals)).hasSize(1);
        assertThat(thrown.stream().filter(BrokenBarrierException.class::equals)).hasSize(3);
        assertBrokenUntilReset(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName(
            "an interrupt while waiting breaks the generation: InterruptedException for that thread, its flag cleared")
    void interruptBreaks(Contender contender) {
        for (Waiting waiting : List.of(UNTIMED, TIMED)) {
            against(contender, 4);
            Running<Met> first = come(barrier, UNTIMED, 1);
            Running<Met> victim = come(side, waiting, 2);
            Running<Met> third = come(side, TIMED, 3);
            victim.thread().interrupt();
            victim.result().assertThrown(InterruptedException.class);
            assertThat(victim.result().flagged()).as("flag").isFalse();
            assertBroken(first, third);
            assertBrokenUntilReset(barrier, side);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a thread that comes interrupted breaks the generation, even if it is the last or needs no time")
    void interruptBeforeBreaks(Contender contender) {
        for (Waiting waiting : List.of(UNTIMED, TIMED, within(Duration.ZERO))) {
            for (int parties = 1; parties <= 3; parties++) {
                against(contender, parties);
                Running<Met> first = parties > 1 ? come(barrier, UNTIMED, 1) : null;
                Running<Met> victim = threads().start("victim", () -> {
                    Thread.currentThread().interrupt();
                    return meet(side, waiting);
                });
                victim.result().assertThrown(InterruptedException.class);
                assertThat(victim.result().flagged()).as("flag").isFalse();
                if (first != null) {
                    assertBroken(first);
                }
                assertBrokenUntilReset(barrier, side);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("at a broken barrier a thread that comes interrupted keeps its flag, and gets BrokenBarrierException")
    void brokenComesFirst(Contender contender) {
        against(contender, 2);
        meet(barrier, within(Duration.ZERO)).assertThrown(TimeoutException.class);
        Running<Met> victim = threads().start("victim", () -> {
            Thread.currentThread().interrupt();
            return meet(side, UNTIMED);
        });
        assertBroken(victim);
        assertThat(victim.result().flagged()).as("flag").isTrue();
        assertBrokenUntilReset(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("what the action throws its thread gets, and the others are broken")
    void failingActionBreaks(Contender contender) {
        AtomicReference<RuntimeException> thrown = new AtomicReference<>(new IllegalStateException("action"));
        Runnable action = () -> {
            RuntimeException failure = thrown.getAndSet(null);
            if (failure != null) {
                throw failure;
            }
        };
        RuntimeException expected = thrown.get();
        against(contender, 3, action);
        Running<Met> first = come(barrier, UNTIMED, 1);
        Running<Met> second = come(side, UNTIMED, 2);
        Met last = meet(side, UNTIMED);
        assertThat(last.thrown()).isSameAs(expected);
        assertBroken(first, second);
        assertBrokenUntilReset(barrier, side);
    }

    @Test
    @DisplayName("an error of the action, even one that nobody has declared, breaks as well")
    void erringActionBreaks() {
        for (Throwable failure : List.of(new StackOverflowError(), new IOException(), new InterruptedException())) {
            CyclicBarrier barrier = newBarrier(2, () -> BrokenBarrierContract.<RuntimeException>sneak(failure));
            Running<Met> first = come(barrier, UNTIMED, 1);
            assertThat(meet(barrier, UNTIMED).thrown()).isSameAs(failure);
            assertBroken(first);
            assertThat(barrier.isBroken()).isTrue();
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a reset breaks those who wait, and begins a generation that isn't broken")
    void resetBreaksWaiters(Contender contender) {
        against(contender, 4);
        for (int turn = 0; turn < 3; turn++) {
            Running<Met> first = come(barrier, UNTIMED, 1);
            Running<Met> second = come(side, TIMED, 2);
            (turn % 2 == 0 ? side : barrier).reset();
            assertBroken(first, second);
            assertThat(barrier.isBroken()).isFalse();
            assertThat(side.getNumberWaiting()).isZero();
        }
        assertTrips(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a reset of a barrier at which nobody waits, broken or not, leaves it unbroken")
    void resetOfIdle(Contender contender) {
        against(contender, 2);
        barrier.reset();
        side.reset();
        assertTrips(barrier, side);
        meet(side, within(Duration.ZERO)).assertThrown(TimeoutException.class);
        barrier.reset();
        barrier.reset();
        assertTrips(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a reset while the action is being run waits for it, and hits the next generation")
    void resetWaitsForAction(Contender contender) {
        CountDownLatch began = new CountDownLatch(1);
        CountDownLatch proceed = new CountDownLatch(1);
        Runnable action = () -> {
            began.countDown();
            awaitUninterruptibly(proceed);
        };
        against(contender, 2, action);
        Running<Met> first = come(side, UNTIMED, 1);
        Running<Met> last = come(barrier, UNTIMED);
        awaitUninterruptibly(began);
        Running<Boolean> reset = threads().start("reset", side::reset);
        assertNotYet(reset);
        assertNotYet(first);
        proceed.countDown();
        first.result().assertIndex(1);
        last.result().assertIndex(0);
        assertThat(reset.result()).isTrue();
        assertTrips(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("an action that resets the barrier breaks the others, while its own thread has index 0")
    void actionMayReset(Contender contender) {
        AtomicReference<CyclicBarrier> reset = new AtomicReference<>();
        Runnable action = () -> {
            CyclicBarrier once = reset.getAndSet(null);
            if (once != null) {
                once.reset();
            }
        };
        against(contender, 3, action);
        reset.set(side);
        Running<Met> first = come(barrier, UNTIMED, 1);
        Running<Met> second = come(side, UNTIMED, 2);
        meet(side, UNTIMED).assertIndex(0);
        assertBroken(first, second);
        assertTrips(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a thread too many waits in the next generation, which it breaks when its time is over")
    void surplusBreaksTheNext(Contender contender) {
        against(contender, 2);
        for (int turn = 0; turn < 5; turn++) {
            List<Running<Met>> all = Stream.of(barrier, side, barrier)
                    .map(end -> come(end, within(shortWait().multipliedBy(8))))
                    .toList();
            List<Met> met = all.stream().map(Running::result).toList();
            assertThat(met.stream().filter(one -> one.thrown() == null).map(Met::index))
                    .containsExactlyInAnyOrder(0, 1);
            assertThat(met.stream().filter(one -> one.thrown() instanceof TimeoutException))
                    .hasSize(1);
            assertBrokenUntilReset(barrier, side);
        }
    }
}
