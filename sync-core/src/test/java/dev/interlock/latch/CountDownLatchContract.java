package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of {@link CountDownLatch}, which every latch that extends it keeps. {@link JdkCountDownLatchTest} runs
 * it on the JDK's own class, the oracle.
 */
abstract class CountDownLatchContract extends LatchFixture {

    private static final int THREADS = 6;

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a count-down takes one off, whoever does it, and zero stays zero")
    void countsDown(Contender contender) throws InterruptedException {
        against(contender, 4);

        for (long left = 4; left > 0; left--) {
            assertThat(latch.getCount()).isEqualTo(left);
            assertThat(side.getCount()).isEqualTo(left);
            assertThat(latch.await(0, TimeUnit.NANOSECONDS)).isFalse();
            (left % 2 == 0 ? side : latch).countDown();
        }

        assertOpen(latch);
        assertOpen(side);
    }

    @Test
    @DisplayName("a latch that begins with zero is open")
    void zeroIsOpen() throws InterruptedException {
        assertOpen(newLatch(0));
        CountDownLatch another = newLatch(0);
        another.await();
        another.countDown();
        assertOpen(another);
    }

    @Test
    @DisplayName("the greatest count is one like any other")
    void greatestCount() throws InterruptedException {
        CountDownLatch latch = newLatch(Integer.MAX_VALUE);
        latch.countDown();
        assertThat(latch.getCount()).isEqualTo(Integer.MAX_VALUE - 1);
        assertThat(latch.await(0, TimeUnit.SECONDS)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("contendersAndWays")
    @DisplayName("who waits passes after the last count-down, not before")
    void waitsForTheLast(Contender contender, Way way) throws InterruptedException {
        against(contender, 3);
        Running<Boolean> waiter = queue("waiter", latch, way);

        side.countDown();
        latch.countDown();
        assertNotYet(waiter);
        assertThat(latch.getCount()).isEqualTo(1);
        side.countDown();

        assertThat(waiter.result()).isTrue();
        assertOpen(latch);
        assertOpen(side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("all who wait pass together")
    void allPass(Contender contender) {
        against(contender, 1);
        List<Running<Boolean>> waiters = new ArrayList<>();
        for (int i = 0; i < 2 * THREADS; i++) {
            waiters.add(come("waiter-" + i, i % 2 == 0 ? latch : side, i / 2 % 2 == 0 ? Way.AWAIT : Way.TIMED_AWAIT));
        }
        waiters.forEach(waiter -> awaitWaiting(latch, waiter));

        side.countDown();

        assertThat(waiters).allSatisfy(waiter -> assertThat(waiter.result()).isTrue());
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("who comes when it is open passes at once")
    void latecomersPass(Contender contender) throws InterruptedException {
        CountDownLatch latch = newLatch(1);
        latch.countDown();

        CountDownLatch side = sideOf(contender, latch);
        for (Way way : Way.values()) {
            assertThat(come("late", side, way).result()).isTrue();
        }

        assertOpen(side);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("a wait that is over before the count is zero says so, not before its time")
    void timesOut(Contender contender) throws InterruptedException {
        against(contender, 2);
        side.countDown();

        assertInVainWithoutTime(latch::await, () -> {});
        for (Duration timeout :
                List.of(Duration.ofNanos(1), shortWait(), shortWait().multipliedBy(4))) {
            long begin = System.nanoTime();
            assertThat(latch.await(timeout.toNanos(), TimeUnit.NANOSECONDS)).isFalse();
            assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(timeout.toNanos());
        }

        assertThat(latch.getCount()).isEqualTo(1);
        side.countDown();
        assertOpen(latch);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the longest timeout waits, in whatever unit it's given")
    void timedAwaitMayWaitForEver(Contender contender) {
        CountDownLatch latch = newLatch(1);
        List<Running<Boolean>> waiters = new ArrayList<>();
        for (TimeUnit unit : List.of(TimeUnit.NANOSECONDS, TimeUnit.DAYS)) {
            waiters.add(threads().start(unit.name(), () -> latch.await(Long.MAX_VALUE, unit)));
        }
        waiters.forEach(waiter -> awaitWaiting(latch, waiter));

        sideOf(contender, latch).countDown();

        assertThat(waiters).allSatisfy(waiter -> assertThat(waiter.result()).isTrue());
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @DisplayName("an interrupt ends a wait, with the flag cleared, and concerns nobody else")
    void interruptEndsTheWait(Way way) throws InterruptedException {
        CountDownLatch latch = newLatch(1);
        Running<Boolean> other = queue("other", latch, Way.AWAIT);
        Running<Boolean> waiter = threads().start("waiter", () -> {
            assertThatThrownBy(() -> way.on(latch)).isInstanceOf(InterruptedException.class);
            return Thread.currentThread().isInterrupted();
        });
        awaitWaiting(latch, waiter);

        waiter.thread().interrupt();

        assertThat(waiter.result()).as("interrupt flag").isFalse();
        assertNotYet(other);
        assertThat(latch.getCount()).isEqualTo(1);
        latch.countDown();
        assertThat(other.result()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(Way.class)
    @DisplayName("who is interrupted doesn't get to wait, even if the latch is open")
    void interruptedOnEntry(Way way) {
        CountDownLatch counting = newLatch(1);
        CountDownLatch open = newLatch(0);
        for (CountDownLatch latch : List.of(counting, open)) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> way.on(latch)).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> latch.await(0, TimeUnit.SECONDS)).isInstanceOf(InterruptedException.class);
            assertThat(Thread.interrupted()).isFalse();
        }
        assertThat(counting.getCount()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("whoever is interrupted counts, asks, and remains interrupted")
    void interruptedCountsDown(Contender contender) throws InterruptedException {
        against(contender, 2);

        Thread.currentThread().interrupt();
        side.countDown();
        long left = side.getCount();
        side.countDown();
        boolean interrupted = Thread.interrupted();

        assertThat(interrupted).isTrue();
        assertThat(left).isEqualTo(1);
        assertOpen(latch);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("count-downs at the same time count once each")
    void countsExactly(Contender contender) throws InterruptedException {
        int each = 50;
        against(contender, THREADS * each + 1);
        Running<Boolean> waiter = come("waiter", latch, Way.AWAIT);
        CyclicBarrier start = new CyclicBarrier(THREADS);
        List<Running<Boolean>> counters = IntStream.range(0, THREADS)
                .mapToObj(i -> threads().start("counter-" + i, () -> {
                    start.await(patience().toSeconds(), TimeUnit.SECONDS);
                    for (int n = 0; n < each; n++) {
                        (i % 2 == 0 ? latch : side).countDown();
                    }
                    return true;
                }))
                .toList();

        counters.forEach(Running::result);
        assertThat(latch.getCount()).isEqualTo(1);
        assertThat(side.getCount()).isEqualTo(1);
        assertNotYet(waiter);
        side.countDown();

        assertThat(waiter.result()).isTrue();
        assertOpen(latch);
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("more count-downs than the count are as good as enough")
    void countsPastZero(Contender contender) throws InterruptedException {
        against(contender, 3);
        List<Running<Boolean>> counters = IntStream.range(0, THREADS)
                .mapToObj(i -> threads().start("counter-" + i, () -> {
                    (i % 2 == 0 ? latch : side).countDown();
                    return true;
                }))
                .toList();

        counters.forEach(Running::result);

        assertOpen(latch);
        assertOpen(side);
    }

    @Test
    @DisplayName("what was done before counting down is seen by those who pass")
    void countingDownPublishes() {
        for (int round = 0; round < 20; round++) {
            CountDownLatch latch = newLatch(2);
            int[] plain = new int[2];
            Running<Integer> reader = threads().start("reader", () -> {
                latch.await();
                return plain[0] + plain[1];
            });
            for (int i = 0; i < 2; i++) {
                int mine = i;
                threads().start("writer-" + i, () -> {
                    plain[mine] = mine + 1;
                    latch.countDown();
                });
            }
            assertThat(reader.result()).isEqualTo(3);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("the driver and the workers of CountDownLatch's own documentation")
    void startAndDone(Contender contender) throws InterruptedException {
        CountDownLatch start = newLatch(1);
        CountDownLatch done = newLatch(THREADS);
        AtomicInteger working = new AtomicInteger();
        List<Running<Boolean>> workers = IntStream.range(0, THREADS)
                .mapToObj(i -> {
                    boolean here = i % 2 == 0;
                    CountDownLatch myStart = here ? start : sideOf(contender, start);
                    CountDownLatch myDone = here ? done : sideOf(contender, done);
                    return threads().start("worker-" + i, () -> {
                        myStart.await();
                        working.incrementAndGet();
                        myDone.countDown();
                    });
                })
                .toList();
        workers.forEach(worker -> awaitWaiting(start, worker));

        assertThat(working).hasValue(0);
        start.countDown();
        assertThat(done.await(patience().toSeconds(), TimeUnit.SECONDS)).isTrue();

        assertThat(working).hasValue(THREADS);
        workers.forEach(worker -> assertThat(worker.result()).isTrue());
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("in a storm of interrupts and timeouts nobody passes early, and all who stay pass in the end")
    void storm(Contender contender) throws InterruptedException {
        int rounds = 10;
        for (int round = 0; round < rounds; round++) {
            against(contender, 2);
            AtomicInteger counted = new AtomicInteger();
            Random random = new Random(round);
            List<Running<Boolean>> waiters = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                CountDownLatch mine = i % 2 == 0 ? latch : side;
                long nanos = TimeUnit.MILLISECONDS.toNanos(random.nextInt(5));
                boolean stays = i < 2;
                waiters.add(threads().start("waiter-" + i, () -> {
                    try {
                        boolean passed = stays
                                ? Way.AWAIT.on(mine)
                                : random.nextBoolean() ? mine.await(nanos, TimeUnit.NANOSECONDS) : Way.AWAIT.on(mine);
                        return !passed || counted.get() == 2;
                    } catch (InterruptedException e) {
                        return !stays;
                    }
                }));
            }
            waiters.subList(2, THREADS).forEach(waiter -> waiter.thread().interrupt());
            assertThat(latch.getCount()).isEqualTo(2);
            latch.countDown();
            waiters.subList(2, THREADS).forEach(Running::result);
            // Before, since who passes at once must not find it uncounted.
            counted.set(2);
            side.countDown();

            assertThat(waiters).allSatisfy(waiter -> assertThat(waiter.result()).isTrue());
            assertOpen(latch);
        }
    }

    @ParameterizedTest
    @MethodSource("contenders")
    @DisplayName("toString() tells the count as the JDK's does")
    void tellsTheCount(Contender contender) throws InterruptedException {
        against(contender, 3);
        side.countDown();
        if (contender == Contender.OTHER_SESSION || deviates(Deviation.TO_STRING_LAGS)) {
            assertThat(latch.getCount()).isEqualTo(2);
        }
        assertThat(latch).hasToString(textOf(latch, 2));
        side.countDown();
        side.countDown();
        latch.await();
        assertThat(latch).hasToString(textOf(latch, 0));
    }

    @Test
    @DisplayName("a time-out needs its unit")
    @SuppressWarnings("NullAway") // What null does is the question.
    void unitMustBeGiven() {
        CountDownLatch latch = newLatch(1);
        assertThatNullPointerException().isThrownBy(() -> latch.await(1, null));
        assertThat(latch.getCount()).isEqualTo(1);
    }
}
