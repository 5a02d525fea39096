package dev.interlock.readwrite.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.LeaseLostException;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.MovableTicker;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A thread that writes and reads finds out by its first unlock that both are lost. */
class LostDowngradeTest extends FaultFixture {
    @Test
    void whoReadsOnIsToldThatItIsLost() {
        Duration lease = Duration.ofSeconds(30);
        MovableTicker ticker = new MovableTicker();
        DistributedReadWriteLock lock =
                session(builder -> builder.lease(lease).ticker(ticker)).readWriteLock("stock");
        lock.writeLock().lock();
        lock.readLock().lock();
        ticker.advance(lease.multipliedBy(2));
        assertThatThrownBy(lock.writeLock()::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock.readLock()::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock.readLock()::unlock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.getReadHoldCount()).isZero();
    }
}
