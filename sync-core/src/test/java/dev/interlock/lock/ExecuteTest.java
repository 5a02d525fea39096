package dev.interlock.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A task runs while its thread holds a lock, and the lock is free afterwards, however the task ends. */
class ExecuteTest {
    private static final Duration LONG = Duration.ofSeconds(20);

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private final String name = keyspace.name("execute");
    private final Interlock interlock = session(Duration.ofSeconds(30));
    private final Interlock other = session(Duration.ofSeconds(30));

    private static Interlock session(Duration lease) {
        return Interlock.builder()
                .uri(RedisServer.provided().url())
                .lease(lease)
                .open();
    }

    @AfterEach
    void close() {
        interlock.close();
        other.close();
    }

    private void assertFree() {
        assertThat(interlock.lock(name).isLocked()).isFalse();
        boolean isFree = other.lock(name).tryLock();
        assertThat(isFree).isTrue();
        other.lock(name).unlock();
    }

    @Test
    void theTaskHoldsTheLock() throws InterruptedException, TimeoutException {
        String result = interlock.execute(name, LONG, () -> {
            assertThat(interlock.lock(name).isHeldByCurrentThread()).isTrue();
            assertThat(interlock.lock(name).fencingToken()).isPositive();
            assertThat(other.lock(name).tryLock()).isFalse();
            return "done";
        });
        assertThat(result).isEqualTo("done");
        assertFree();
    }

    @Test
    @SuppressWarnings("NullAway") // It doesn't infer that the type argument is nullable.
    void theTaskMayReturnNothing() throws InterruptedException, TimeoutException {
        AtomicBoolean hasRun = new AtomicBoolean();
        Object nothing = interlock.execute(name, LONG, () -> {
            hasRun.set(true);
            return null;
        });
        assertThat(nothing).isNull();
        assertThat(hasRun).isTrue();
        assertFree();
    }

    @Test
    void aTaskMayExecuteAnother() {
        DistributedReentrantLock lock = interlock.lock(name);
        assertThatNoException()
                .isThrownBy(() -> assertThat(
                                interlock.execute(name, LONG, () -> interlock.execute(name, LONG, lock::getHoldCount)))
                        .isEqualTo(2));
        assertFree();
    }

    /** What the compiler knows of it is what the caller has to catch. */
    @Test
    void whatTheTaskThrowsIsThrown() throws InterruptedException, TimeoutException {
        IOException checked = new IOException("disk");
        try {
            interlock.execute(name, LONG, () -> {
                throw checked;
            });
        } catch (IOException e) {
            assertThat(e).isSameAs(checked).hasNoSuppressedExceptions();
        }
        assertFree();
        Callable<String> callable = () -> {
            throw checked;
        };
        assertThat(catchThrowable(() -> interlock.execute(name, LONG, callable::call)))
                .isSameAs(checked);
        assertFree();
        StackOverflowError error = new StackOverflowError();
        assertThat(catchThrowable(() -> interlock.execute(name, LONG, () -> {
                    throw error;
                })))
                .isSameAs(error);
        assertFree();
    }

    @Test
    void aLockThatIsNotFreeInTimeIsNamed() {
        DistributedReentrantLock held = other.lock(name);
        held.lock();
        AtomicBoolean hasRun = new AtomicBoolean();
        assertThatExceptionOfType(TimeoutException.class)
                .isThrownBy(() -> interlock.execute(name, Duration.ofMillis(10), () -> hasRun.getAndSet(true)))
                .withMessageContaining("'" + name + "'")
                .withMessageContaining("PT0.01S");
        held.unlock();
        assertThat(hasRun).isFalse();
    }

    @Test
    void anInterruptedThreadRunsNothing() {
        AtomicBoolean hasRun = new AtomicBoolean();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> interlock.execute(name, LONG, () -> hasRun.getAndSet(true)))
                .isInstanceOf(InterruptedException.class);
        assertThat(hasRun).isFalse();
        assertFree();
    }

    private void lose(DistributedReentrantLock lock) {
        keyspace.forget(name);
        await("loss").pollInSameThread().until(() -> catchThrowable(lock::assertHeld) instanceof LeaseLostException);
    }

    @Test
    void aLostLockIsToldWhenTheTaskIsDone() {
        try (Interlock brief = session(Duration.ofSeconds(1))) {
            DistributedReentrantLock lock = brief.lock(name);
            assertThatExceptionOfType(LeaseLostException.class)
                    .isThrownBy(() -> brief.execute(name, LONG, () -> {
                        lose(lock);
                        return "done";
                    }))
                    .satisfies(loss -> assertThat(loss.lockName()).isEqualTo(name));
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertFree();
        }
    }

    @Test
    void aLostLockDoesNotHideWhatTheTaskThrows() {
        IOException failure = new IOException("disk");
        try (Interlock brief = session(Duration.ofSeconds(1))) {
            DistributedReentrantLock lock = brief.lock(name);
            assertThat(catchThrowable(() -> brief.execute(name, LONG, () -> {
                        lose(lock);
                        throw failure;
                    })))
                    .isSameAs(failure);
            assertThat(failure.getSuppressed()).singleElement().isInstanceOf(LeaseLostException.class);
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertFree();
        }
    }
}
