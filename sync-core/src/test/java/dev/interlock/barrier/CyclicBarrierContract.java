package dev.interlock.barrier;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The contract of {@link CyclicBarrier}, which every barrier that extends it keeps. {@link JdkCyclicBarrierTest} runs
 * it on the JDK's own class, the oracle. Here what happens as long as all goes well; {@link BrokenBarrierContract} has
 * the rest.
 */
abstract class CyclicBarrierContract extends BrokenBarrierContract {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7})
    @DisplayName("a new barrier has its parties, nobody waits, and it isn't broken")
    void beginsEmpty(int parties) {
        CyclicBarrier barrier = newBarrier(parties, null);
        assertThat(barrier.getParties()).isEqualTo(parties);
        assertThat(barrier.getNumberWaiting()).isZero();
        assertThat(barrier.isBroken()).isFalse();
    }

    @Test
    @DisplayName("a barrier of one party trips at once, timed or not, and its action is run by that thread")
    void oneParty() {
        List<Thread> ran = new ArrayList<>();
        CyclicBarrier barrier = newBarrier(1, () -> ran.add(Thread.currentThread()));
        for (Waiting waiting : List.of(UNTIMED, TIMED, within(Duration.ZERO), within(Duration.ofNanos(-1)))) {
            meet(barrier, waiting).assertIndex(0);
        }
        assertThat(ran).hasSize(4).containsOnly(Thread.currentThread());
        assertThat(barrier.getNumberWaiting()).isZero();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("threads wait until the last has come; the first has index parties - 1, the last 0")
    void indexTellsOrderOfArrival(Contender contender) {
        against(contender, 5);
        for (int generation = 0; generation < 2; generation++) {
            List<Running<Met>> waiters = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                waiters.add(come(i % 2 == 0 ? barrier : side, i < 2 ? UNTIMED : TIMED, i + 1));
                assertThat(side.getNumberWaiting()).isEqualTo(i + 1);
            }
            assertNotYet(waiters.get(0));
            meet(barrier, UNTIMED).assertIndex(0);
            for (int i = 0; i < 4; i++) {
                waiters.get(i).result().assertIndex(4 - i);
            }
            assertThat(barrier.getNumberWaiting()).isZero();
            assertThat(side.getNumberWaiting()).isZero();
        }
        assertTrips(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("through many generations nobody leaves before all have come, and each index is had once")
    void generationsDoNotMix(Contender contender) {
        int parties = 4;
        int generations = generations();
        AtomicInteger[] come = counters(generations);
        AtomicInteger[] actions = counters(generations);
        AtomicInteger[][] indices = new AtomicInteger[generations][];
        IntStream.range(0, generations).forEach(g -> indices[g] = counters(parties));
        AtomicInteger generation = new AtomicInteger();
        Runnable action = () -> {
            int current = generation.getAndIncrement();
            assertThat(come[current].get()).as("arrivals before the action").isEqualTo(parties);
            actions[current].incrementAndGet();
        };
        against(contender, parties, action);
        List<Running<Boolean>> all = IntStream.range(0, parties)
                .mapToObj(self -> threads().start("party " + self, () -> {
                    for (int g = 0; g < generations; g++) {
                        come[g].incrementAndGet();
                        int index = (self % 2 == 0 ? barrier : side).await();
                        assertThat(come[g].get()).as("arrivals").isEqualTo(parties);
                        assertThat(actions[g].get()).as("actions").isEqualTo(1);
                        indices[g][index].incrementAndGet();
                    }
                    return true;
                }))
                .toList();
        all.forEach(Running::result);
        for (int g = 0; g < generations; g++) {
            assertThat(indices[g]).allSatisfy(count -> assertThat(count.get()).isEqualTo(1));
            assertThat(actions[g].get()).isEqualTo(1);
        }
        assertThat(barrier.isBroken()).isFalse();
    }

    private static AtomicInteger[] counters(int count) {
        return IntStream.range(0, count).mapToObj(i -> new AtomicInteger()).toArray(AtomicInteger[]::new);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the last thread runs the action, once, before any of the others goes on")
    void lastThreadRunsAction(Contender contender) {
        List<Thread> ran = new ArrayList<>();
        CountDownLatch proceed = new CountDownLatch(1);
        Runnable action = () -> {
            ran.add(Thread.currentThread());
            awaitUninterruptibly(proceed);
        };
        against(contender, 3, action);
        Running<Met> first = come(barrier, UNTIMED, 1);
        Running<Met> second = come(side, UNTIMED, 2);
        Running<Met> last = come(side, UNTIMED);
        await("the action").until(() -> !ran.isEmpty());
        assertNotYet(first);
        assertNotYet(second);
        proceed.countDown();
        first.result().assertIndex(2);
        second.result().assertIndex(1);
        last.result().assertIndex(0);
        assertThat(ran).containsExactly(last.thread());
    }

    @Test
    @DisplayName("the action sees a barrier that isn't broken, with all parties waiting")
    void actionLooksOn() {
        AtomicReference<@Nullable CyclicBarrier> seen = new AtomicReference<>();
        AtomicInteger waiting = new AtomicInteger(-1);
        AtomicBoolean broken = new AtomicBoolean(true);
        CyclicBarrier barrier = newBarrier(2, () -> {
            CyclicBarrier itself = requireNonNull(seen.get());
            waiting.set(itself.getNumberWaiting());
            broken.set(itself.isBroken());
        });
        seen.set(barrier);
        Running<Met> first = come(barrier, UNTIMED, 1);
        meet(barrier, UNTIMED).assertIndex(0);
        first.result().assertIndex(1);
        assertThat(waiting).hasValue(2);
        assertThat(broken).isFalse();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("while the action is being run neither an interrupt nor a time-out breaks the generation")
    void nothingBreaksWhatTrips(Contender contender) {
        AtomicBoolean runs = new AtomicBoolean();
        CountDownLatch proceed = new CountDownLatch(1);
        Runnable action = () -> {
            if (runs.compareAndSet(false, true)) {
                awaitUninterruptibly(proceed);
            }
        };
        against(contender, 3, action);
        Running<Met> interrupted = come(barrier, UNTIMED, 1);
        // Long enough for the last one to come, on a machine with other things to do.
        Running<Met> late = come(barrier, within(shortWait().multipliedBy(20)), 2);
        Running<Met> last = come(side, UNTIMED);
        await("the action").untilTrue(runs);
        interrupted.thread().interrupt();
        assertThat(late.endsWithin(shortWait().multipliedBy(22))).isFalse();
        assertNotYet(interrupted);
        proceed.countDown();
        interrupted.result().assertIndex(2);
        assertThat(interrupted.result().flagged()).as("flag").isTrue();
        late.result().assertIndex(1);
        last.result().assertIndex(0);
        assertTrips(barrier, side);
    }

    @Test
    @DisplayName("an interrupt of the thread that runs the action is left to the action, and then to the thread")
    void interruptOfActor() {
        AtomicBoolean flagged = new AtomicBoolean();
        CyclicBarrier barrier = newBarrier(2, () -> {
            Thread.currentThread().interrupt();
            flagged.set(Thread.currentThread().isInterrupted());
        });
        Running<Met> first = come(barrier, UNTIMED, 1);
        Running<Met> last = come(barrier, UNTIMED);
        first.result().assertIndex(1);
        assertThat(first.result().flagged()).isFalse();
        last.result().assertIndex(0);
        assertThat(last.result().flagged()).isTrue();
        assertThat(flagged).isTrue();
        assertThat(barrier.isBroken()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the last thread needs no time, the others do")
    void lastNeedsNoTime(Contender contender) {
        against(contender, 2);
        Running<Met> first = come(barrier, UNTIMED, 1);
        meet(side, within(Duration.ZERO)).assertIndex(0);
        first.result().assertIndex(1);
        meet(side, within(Duration.ZERO)).assertThrown(TimeoutException.class);
        assertBrokenUntilReset(barrier, side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("more threads than parties share out over generations")
    void crowdSharesOut(Contender contender) {
        against(contender, 3);
        List<Running<Met>> crowd = IntStream.range(0, 11)
                .mapToObj(i -> come(i % 2 == 0 ? barrier : side, UNTIMED))
                .toList();
        await("nine gone")
                .until(() ->
                        crowd.stream().filter(one -> one.thread().isAlive()).count() == 2);
        // Only then: two may have been there in any generation before, and the last two may still be on their way.
        awaitArrived(barrier, 2);
        meet(side, UNTIMED).assertIndex(0);
        List<Integer> indices =
                crowd.stream().map(one -> one.result().index()).sorted().toList();
        assertThat(indices).containsExactly(0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2);
    }

    @Test
    @DisplayName("a unit must be given")
    void unitMustBeGiven() {
        CyclicBarrier barrier = newBarrier(2, null);
        assertThatNullPointerException().isThrownBy(() -> barrier.await(1, none()));
        assertThat(barrier.getNumberWaiting()).isZero();
        assertThat(barrier.isBroken()).isFalse();
    }

    /** What the compiler's null checks would refuse, and users without them won't. */
    @SuppressWarnings({"NullAway", "TypeParameterUnusedInFormals"})
    private static <T> T none() {
        return null;
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("through a storm of interrupts, time-outs and resets "
            + "each generation trips for all of its threads or for none")
    void survivesStorm(Contender contender) {
        int parties = 3;
        against(contender, parties);
        AtomicInteger[] indices = counters(parties);
        AtomicInteger breakages = new AtomicInteger();
        // The storm begins at a broken barrier: on a busy machine its own breakages may all come too late.
        assertThat(meet(barrier, within(shortWait())).thrown()).isInstanceOf(TimeoutException.class);
        List<Running<Boolean>> all = IntStream.range(0, parties)
                .mapToObj(
                        self -> threads().start("party " + self, () -> storm(self, barrier, side, indices, breakages)))
                .toList();
        long deadline = System.nanoTime() + patience().toNanos();
        int victim = 0;
        while (all.stream().anyMatch(one -> one.thread().isAlive()) && System.nanoTime() < deadline) {
            all.get(victim++ % parties).endsWithin(Duration.ofMillis(3));
            all.get(victim % parties).thread().interrupt();
        }
        all.forEach(Running::result);
        assertThat(indices).extracting(AtomicInteger::get).containsOnly(indices[0].get());
        assertThat(breakages).hasPositiveValue();
        barrier.reset();
        assertTrips(barrier, side);
    }

    private boolean storm(
            int self, CyclicBarrier barrier, CyclicBarrier side, AtomicInteger[] indices, AtomicInteger breakages) {
        var random = new Random(self);
        CyclicBarrier mine = self % 2 == 0 ? barrier : side;
        for (int turn = 0; turn < generations(); turn++) {
            Waiting waiting = random.nextInt(3) == 0 ? within(Duration.ofNanos(1L << random.nextInt(24))) : TIMED;
            Met met = meet(mine, turn > generations() * 3 / 4 ? within(shortWait()) : waiting);
            if (met.thrown() == null) {
                indices[met.index()].incrementAndGet();
            } else {
                assertThat(met.thrown())
                        .isInstanceOfAny(
                                InterruptedException.class, TimeoutException.class, BrokenBarrierException.class);
                breakages.incrementAndGet();
                if (self == 0 || random.nextInt(4) == 0) {
                    mine.reset();
                }
            }
            Thread.interrupted();
        }
        return true;
    }
}
