package dev.interlock.semaphore.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Monotonic;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** A thread comes to wait for permits while its session is being closed. */
class SemaphoreCloseTest extends SemaphoreFaultFixture {

    /**
     * Holds one thread when it reads the time for the second time: by then it has looked whether the session is open.
     */
    private static final class HoldingTicker implements LongSupplier {
        final CountDownLatch held = new CountDownLatch(1);
        final CountDownLatch goesOn = new CountDownLatch(1);
        private final AtomicInteger reads = new AtomicInteger();
        private final Actor actor;

        HoldingTicker(Actor actor) {
            this.actor = actor;
        }

        @Override
        public long getAsLong() {
            if (Thread.currentThread() == actor.thread() && reads.incrementAndGet() == 2) {
                held.countDown();
                try {
                    assertThat(goesOn.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
                            .isTrue();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            return Monotonic.nanos();
        }
    }

    private void assertSentAway(Interlock session, HoldingTicker ticker, CompletableFuture<?> waits)
            throws InterruptedException {
        assertThat(ticker.held.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS))
                .isTrue();
        session.close();
        ticker.goesOn.countDown();
        assertThat(waits)
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .withCauseInstanceOf(IllegalStateException.class)
                .withMessageContaining("closed");
    }

    /** close() has gone through all that the session has before the thread registers, so that nobody would tell it. */
    @Test
    void whoRegistersBesideCloseIsSentAway() throws InterruptedException {
        DistributedSemaphore held = of(undisturbed());
        assertThat(held.tryAcquire(PERMITS)).isTrue();
        Actor waiter = actor("waiter");
        HoldingTicker ticker = new HoldingTicker(waiter);
        Interlock session = session(builder -> builder.ticker(ticker));
        DistributedSemaphore semaphore = of(session);
        assertSentAway(session, ticker, waiter.begin(semaphore::acquire));
        await("nothing is wanted any more").until(() -> waiting() == 0);
        held.release(PERMITS);
    }

    @Test
    void whoRegistersAtAnAdaptedSemaphoreBesideCloseIsSentAway() throws InterruptedException {
        RedissonClient client = client(proxy().url());
        RSemaphore counted = client.getSemaphore("adapted");
        counted.trySetPermits(0);
        Actor waiter = actor("waiter");
        HoldingTicker ticker = new HoldingTicker(waiter);
        Interlock session = over(client, builder -> builder.ticker(ticker));
        DistributedSemaphore semaphore = session.adapt(counted);
        assertSentAway(session, ticker, waiter.begin(semaphore::acquireUninterruptibly));
        counted.delete();
    }
}
