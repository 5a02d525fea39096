package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.LeaseLostException;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.MovableTicker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A thread that writes and reads finds out by its first unlock that both are lost. */
class LostDowngradeTest extends FaultFixture {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final MovableTicker ticker = new MovableTicker();

    private DistributedReadWriteLock lockBothViews() {
        DistributedReadWriteLock lock =
                session(builder -> builder.lease(LEASE).ticker(ticker)).readWriteLock("stock");
        lock.writeLock().lock();
        lock.readLock().lock();
        return lock;
    }

    private void assertLostAtDowngrade(DistributedReadWriteLock lock) {
        ticker.advance(LEASE.multipliedBy(2));
        assertThatThrownBy(lock.writeLock()::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock.readLock()::assertHeld).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void whoReadsOnIsToldThatItIsLost() {
        DistributedReadWriteLock lock = lockBothViews();
        assertLostAtDowngrade(lock);
        assertThatThrownBy(lock.readLock()::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.getReadHoldCount()).isZero();
    }

    /** The one that has lost the lock isn't told that it has what the other one has acquired. */
    @Test
    void readerOfThatSessionEntersBesideTheOneThatHasLostTheLock() {
        DistributedReadWriteLock lock = lockBothViews();
        Actor reader = actor("reader");
        CompletableFuture<Boolean> reads = reader.begin(lock.readLock()::lock);
        await("the queue").until(lock::hasQueuedThreads);
        assertLostAtDowngrade(lock);
        assertThat(reads).succeedsWithin(PATIENCE);
        reader.run(lock.readLock()::assertHeld);
        assertThatThrownBy(lock.readLock()::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock.readLock()::unlock).isInstanceOf(LeaseLostException.class);
        reader.run(lock.readLock()::assertHeld);
        reader.run(lock.readLock()::unlock);
    }
}
