package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What {@link CountDownLatchContract} asks of a subclass, and the means its tests share.
 *
 * <p>A test that involves several threads runs once per {@link Contender}: against threads that use the same latch
 * object and, where {@link #rivalOf} knows one, against threads of another session.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class LatchFixture {

    /** Whose count-downs the latch under test sees. */
    enum Contender {
        SAME_OBJECT,
        OTHER_SESSION
    }

    /** Where a latch may differ from {@link CountDownLatch}. A test touched by one leaves out what can't be had. */
    enum Deviation {
        /** {@code toString()} tells the count that was last heard of. */
        TO_STRING_LAGS
    }

    /** How to wait. */
    enum Way {
        AWAIT {
            @Override
            boolean on(CountDownLatch latch) throws InterruptedException {
                latch.await();
                return true;
            }
        },
        TIMED_AWAIT {
            @Override
            boolean on(CountDownLatch latch) throws InterruptedException {
                return latch.await(1, TimeUnit.HOURS);
            }
        };

        /** Returns whether the latch is open. */
        abstract boolean on(CountDownLatch latch) throws InterruptedException;
    }

    private static final Set<Thread.State> BLOCKED =
            EnumSet.of(Thread.State.BLOCKED, Thread.State.WAITING, Thread.State.TIMED_WAITING);

    private TestThreads threads;

    /** A latch that nobody has used and that no other test will use. */
    protected abstract CountDownLatch newLatch(int count);

    /** An object of another session for the same latch. */
    protected Optional<CountDownLatch> rivalOf(CountDownLatch latch) {
        return Optional.empty();
    }

    protected Set<Deviation> deviations() {
        return EnumSet.noneOf(Deviation.class);
    }

    /** The longest that anything may take which has to happen. */
    protected Duration patience() {
        return Duration.ofSeconds(20);
    }

    /** How long tests watch for what must not happen, and let a timeout run. No single operation takes so long. */
    protected Duration shortWait() {
        return Duration.ofMillis(40);
    }

    /** Returns once {@code waiter} waits: it has been blocked for {@link #shortWait()}. */
    protected void awaitWaiting(CountDownLatch latch, Running<?> waiter) {
        long[] blockedSince = {System.nanoTime()};
        await(waiter.thread().getName() + " waits").until(() -> {
            Thread.State state = waiter.thread().getState();
            assertThat(state).as("a thread that should wait").isNotEqualTo(Thread.State.TERMINATED);
            if (!BLOCKED.contains(state)) {
                blockedSince[0] = System.nanoTime();
            }
            return System.nanoTime() - blockedSince[0] >= shortWait().toNanos();
        });
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

    final boolean deviates(Deviation deviation) {
        return deviations().contains(deviation);
    }

    /** Not a constant: without a rival the other half isn't there at all, rather than skipped. */
    final Stream<Contender> contenders() {
        return rivalOf(newLatch(1)).isPresent() ? Stream.of(Contender.values()) : Stream.of(Contender.SAME_OBJECT);
    }

    final Stream<Arguments> contendersAndWays() {
        return contenders().flatMap(contender -> Stream.of(Way.values()).map(way -> Arguments.of(contender, way)));
    }

    /** The object through which a contender uses the latch. */
    final CountDownLatch sideOf(Contender contender, CountDownLatch latch) {
        return contender == Contender.SAME_OBJECT ? latch : rivalOf(latch).orElseThrow();
    }

    final ConditionFactory await(String what) {
        return Awaitility.await(what)
                .atMost(patience())
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1));
    }

    /** Lets another thread wait, and returns at once. */
    final Running<Boolean> come(String name, CountDownLatch latch, Way way) {
        return threads().start(name, () -> way.on(latch));
    }

    /** Lets another thread wait, and returns once it does. */
    final Running<Boolean> queue(String name, CountDownLatch latch, Way way) {
        Running<Boolean> waiter = come(name, latch, way);
        awaitWaiting(latch, waiter);
        return waiter;
    }

    final void assertStillWaits(Running<Boolean> waiter) {
        assertThat(waiter.endsWithin(shortWait()))
                .as("a thread that should wait has ended")
                .isFalse();
    }

    /** Asserts that the latch is open to whoever comes, and stays so. */
    final void assertOpen(CountDownLatch latch) throws InterruptedException {
        assertThat(latch.getCount()).isZero();
        latch.await();
        assertThat(latch.await(0, TimeUnit.SECONDS)).isTrue();
        assertThat(latch.await(-1, TimeUnit.DAYS)).isTrue();
        latch.countDown();
        assertThat(latch.getCount()).isZero();
        assertThat(latch).hasToString(textOf(latch, 0));
    }

    static String textOf(CountDownLatch latch, long count) {
        return latch.getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(latch)) + "[Count = "
                + count + "]";
    }
}
