package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad arguments to read-write locks get an error that names the argument, and nothing stays held. */
@SuppressWarnings("NullAway") // What null does is the question.
class ReadWriteInputTest extends TwoConnections {

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @Test
    void nameMustBeGiven() {
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.readWriteLock(null))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.fairReadWriteLock(""))
                .withMessageContaining("name")
                .withMessageContaining("empty");
    }

    /** One session has one lock of a name, and the lock of the same name is another one. */
    @Test
    void nameIsUsedInOneWay() {
        String name = keyspace.name("use");
        DistributedReadWriteLock lock = interlock.readWriteLock(name);
        assertThat(interlock.readWriteLock(name)).isSameAs(lock);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.fairReadWriteLock(name))
                .withMessageContaining(name)
                .withMessageContaining("fair");
        assertThat(other.fairReadWriteLock(name).isFair()).isTrue();
        lock.writeLock().lock();
        try {
            assertThat(interlock.lock(name).tryLock()).isTrue();
            interlock.lock(name).unlock();
            assertThat(other.fairReadWriteLock(name).readLock().tryLock()).isFalse();
        } finally {
            lock.writeLock().unlock();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "{c}", "x{y}z:w", "ü", "with:r"})
    void oddNamesAreNames(String odd) {
        String name = odd + keyspace.name("odd") + odd;
        DistributedReadWriteLock lock = interlock.readWriteLock(name);
        DistributedReadWriteLock rival = other.readWriteLock(name);
        assertThat(lock.getName()).isEqualTo(name);
        lock.readLock().lock();
        try {
            assertThat(rival.readLock().tryLock()).isTrue();
            rival.readLock().unlock();
            assertThat(rival.writeLock().tryLock()).isFalse();
            assertThat(other.readWriteLock(name + "x").writeLock().tryLock()).isTrue();
            other.readWriteLock(name + "x").writeLock().unlock();
        } finally {
            lock.readLock().unlock();
        }
    }

    @Test
    void argumentsMustBeGiven() {
        DistributedReadWriteLock lock = interlock.readWriteLock(keyspace.name("arguments"));
        TimeUnit unit = null;
        assertThatNullPointerException()
                .isThrownBy(() -> lock.readLock().tryLock(1, unit))
                .withMessageContaining("unit");
        assertThatNullPointerException()
                .isThrownBy(() -> lock.writeLock().tryLock(1, unit))
                .withMessageContaining("unit");
        assertThatNullPointerException().isThrownBy(() -> lock.onLost(null)).withMessageContaining("listener");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> lock.writeLock().newCondition(""))
                .withMessageContaining("conditionName");
        assertThatThrownBy(() -> lock.readLock().newCondition()).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> lock.writeLock().fencingToken()).isInstanceOf(IllegalMonitorStateException.class);
        assertThatThrownBy(() -> lock.readLock().assertHeld()).isInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void closedSessionHasNoLocks() {
        Interlock closed = Interlock.connect(RedisServer.provided().url());
        DistributedReadWriteLock lock = closed.readWriteLock(keyspace.name("closed"));
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> closed.readWriteLock("any"));
        assertThatIllegalStateException().isThrownBy(() -> lock.readLock().lock());
        assertThatIllegalStateException().isThrownBy(() -> lock.writeLock().lock());
        assertThat(lock.getReadLockCount()).isZero();
        assertThat(lock.isWriteLocked()).isFalse();
    }

    @Test
    void tokensGrow() {
        DistributedReadWriteLock lock = interlock.readWriteLock(keyspace.name("tokens"));
        long last = 0;
        for (int i = 0; i < 5; i++) {
            DistributedReadWriteLock writer = i % 2 == 0 ? lock : other.readWriteLock(lock.getName());
            writer.writeLock().lock();
            long token = writer.writeLock().fencingToken();
            writer.readLock().lock();
            writer.readLock().assertHeld();
            writer.writeLock().unlock();
            writer.readLock().unlock();
            assertThat(token).isGreaterThan(last);
            last = token;
        }
    }
}
