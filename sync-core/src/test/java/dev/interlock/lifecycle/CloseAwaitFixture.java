package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Recorder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;

/** What tests of close(Duration) have in common. */
abstract class CloseAwaitFixture extends FaultFixture {
    static final String NAME = "stock";
    static final Duration LONG = Duration.ofMinutes(10);

    Recorder recorder = new Recorder();

    @BeforeEach
    void listen() {
        recorder = new Recorder();
    }

    @Override
    protected String lasting() {
        return super.lasting() + "|semaphore|latch|barrier";
    }

    final CompletableFuture<Boolean> beginToClose(Interlock session, Duration await) {
        CompletableFuture<Boolean> closed = actor("closer").begin(() -> session.close(await));
        await("it refuses what is new").until(() -> refuses(session));
        return closed;
    }

    static boolean refuses(Interlock session) {
        DistributedReentrantLock probe = session.lock("probe");
        try {
            if (probe.tryLock()) {
                probe.unlock();
            }
            return false;
        } catch (IllegalStateException e) {
            return true;
        }
    }

    static void assertRefused(ThrowingCallable use) {
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(use)
                .isNotInstanceOf(LeaseLostException.class)
                .withMessageContaining("closed");
    }

    static void assertSentAway(CompletableFuture<?> wait) {
        assertThat(wait)
                .failsWithin(PATIENCE)
                .withThrowableOfType(ExecutionException.class)
                .withCauseExactlyInstanceOf(IllegalStateException.class);
    }

    final void assertNothingIsLost() {
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        assertThat(recorder.count(Recorder.Kind.LOST_UNNOTICED)).isZero();
    }
}
