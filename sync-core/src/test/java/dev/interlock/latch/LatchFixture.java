package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ContractFixture;
import dev.interlock.testing.TestThreads.Running;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/**
 * What {@link CountDownLatchContract} asks of a subclass, and the means its tests share. A contender is whose
 * count-downs the latch under test sees.
 */
@SuppressWarnings("NullAway.Init") // a test that needs them begins with against()
abstract class LatchFixture extends ContractFixture<CountDownLatch> {
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

    /** The latch of a test, and the object through which the contender uses it. */
    CountDownLatch latch;

    CountDownLatch side;

    /** A latch that nobody has used and that no other test will use. */
    protected abstract CountDownLatch newLatch(int count);

    @Override
    protected final CountDownLatch sample() {
        return newLatch(1);
    }

    /** Begins a test against this contender. */
    final void against(Contender contender, int count) {
        latch = newLatch(count);
        side = sideOf(contender, latch);
    }

    /** Returns once {@code waiter} waits: it has been blocked for {@link #shortWait()}. */
    protected void awaitWaiting(CountDownLatch latch, Running<?> waiter) {
        awaitBlocked(waiter.thread(), () -> false);
    }

    final Stream<Arguments> contendersAndWays() {
        return contendersWith((Object[]) Way.values());
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
