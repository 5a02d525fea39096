package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.SemaphoreOptions;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad arguments to semaphores get an error that names the argument, and nothing stays acquired. */
@SuppressWarnings("NullAway") // What null does is the question.
class SemaphoreInputTest extends TwoConnections {

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @Test
    void nameAndOptionsMustBeGiven() {
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.semaphore(null, 1))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.semaphore("", 1))
                .withMessageContaining("name")
                .withMessageContaining("empty");
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.semaphore("any", 1, null))
                .withMessageContaining("options");
    }

    /**
     * One semaphore has one number of permits and one kind of ownership, in all sessions; each session chooses its
     * fairness.
     */
    @Test
    void whatIsStatedHasToAgree() {
        String name = keyspace.name("stated");
        DistributedSemaphore semaphore = interlock.semaphore(name, 3);
        assertThat(interlock.semaphore(name, 3)).isSameAs(semaphore);
        for (Interlock session : new Interlock[] {interlock, other}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.semaphore(name, 4))
                    .withMessageContaining(name)
                    .withMessageContaining("4 permits, but has 3");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.semaphore(name, 3, SemaphoreOptions.unowned()))
                    .withMessageContaining(name)
                    .withMessageContaining("nobody");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.semaphore(name, 3, SemaphoreOptions.fair()))
                .withMessageContaining("fair");
        assertThat(other.semaphore(name, 3, SemaphoreOptions.fair()).isFair()).isTrue();
    }

    /** After a resize the new number is the one to state. */
    @Test
    void resizedSemaphoreIsStatedAnew() {
        String name = keyspace.name("resized");
        DistributedSemaphore semaphore = interlock.semaphore(name, 3);
        DistributedSemaphore same = other.semaphore(name, 3);
        assertThat(semaphore.tryAcquire(2)).isTrue();
        same.resize(1);
        assertThat(semaphore.availablePermits()).isEqualTo(-1);
        assertThat(interlock.semaphore(name, 1)).isSameAs(semaphore);
        assertThatIllegalArgumentException().isThrownBy(() -> other.semaphore(name, 3));
        semaphore.release(2);
        assertThat(same.availablePermits()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "{c}", "x{y}z:w", "ü", "with:o"})
    void oddNamesAreNames(String odd) {
        String name = odd + keyspace.name("odd") + odd;
        DistributedSemaphore semaphore = interlock.semaphore(name, 1);
        assertThat(semaphore.getName()).isEqualTo(name);
        assertThat(semaphore.tryAcquire()).isTrue();
        assertThat(other.semaphore(name, 1).tryAcquire()).isFalse();
        assertThat(other.semaphore(name + "x", 1).tryAcquire()).isTrue();
        other.semaphore(name + "x", 1).release();
        semaphore.release();
    }

    @Test
    void argumentsAreChecked() throws InterruptedException {
        DistributedSemaphore semaphore = interlock.semaphore(keyspace.name("arguments"), 1);
        TimeUnit unit = null;
        assertThatNullPointerException()
                .isThrownBy(() -> semaphore.tryAcquire(1, unit))
                .withMessageContaining("unit");
        assertThatNullPointerException()
                .isThrownBy(() -> semaphore.onLost(null))
                .withMessageContaining("listener");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphore.acquire(-1))
                .withMessageContaining("permits");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphore.release(-1))
                .withMessageContaining("permits");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphore.tryAcquire(-1))
                .withMessageContaining("permits");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphore.tryAcquire(-1, 1, TimeUnit.SECONDS))
                .withMessageContaining("permits");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphore.acquireUninterruptibly(-1))
                .withMessageContaining("permits");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> semaphore.reducePermits(-1))
                .withMessageContaining("reduction");
        assertThat(semaphore.availablePermits()).isEqualTo(1);
    }

    @Test
    void closedSessionHasNoSemaphores() {
        Interlock closed = Interlock.connect(RedisServer.provided().url());
        DistributedSemaphore semaphore = closed.semaphore(keyspace.name("closed"), 1);
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> closed.semaphore("any", 1));
        assertThatIllegalStateException().isThrownBy(semaphore::acquire);
        assertThatIllegalStateException().isThrownBy(semaphore::tryAcquire);
        assertThatIllegalStateException().isThrownBy(semaphore::availablePermits);
        assertThatIllegalStateException().isThrownBy(semaphore::release);
    }
}
