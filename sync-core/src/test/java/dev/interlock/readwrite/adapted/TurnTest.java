package dev.interlock.readwrite.adapted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RReadWriteLock;

/** How a session comes to its turn, and how that ends. */
@DisplayName("the turn of an adapted RReadWriteLock")
@SuppressWarnings("LockNotBeforeTry") // The lock is the subject: a test that fails holding it is over.
@Tag("proof")
class TurnTest extends AdaptedFixture {

    @Override
    Duration slice() {
        return Duration.ofMillis(500);
    }

    private Lock view(boolean write) {
        return write ? lock.writeLock() : lock.readLock();
    }

    @Test
    @DisplayName("serves all readers of the hand-off slice, then it is given back without a further unlock")
    void isShared() {
        lock.readLock().lock();
        long before = redis.commandCalls("evalsha");
        for (int i = 0; i < 50; i++) {
            assertThat(threads.start("reader " + i, () -> {
                                lock.readLock().lock();
                                lock.readLock().unlock();
                            })
                            .result())
                    .isTrue();
            lock.readLock().unlock();
            lock.readLock().lock();
        }
        lock.readLock().unlock();
        // Slow machines get through several slices.
        assertThat(redis.commandCalls("evalsha") - before).isLessThan(20);
        await("given back").until(() -> redis.keys().isEmpty());
    }

    @Test
    @DisplayName("who reads no more may write at once, on the same turn nobody else")
    void ownReadTurnIsNoObstacle() {
        for (int i = 0; i < 20; i++) {
            lock.readLock().lock();
            lock.readLock().unlock();
            assertThat(lock.writeLock().tryLock()).isTrue();
            assertTaken(plain.readLock());
            lock.writeLock().unlock();
        }
    }

    @Test
    @DisplayName("several threads that only ask for a free lock all get it")
    void askersAllGetIt() {
        for (int i = 0; i < 10; i++) {
            var barrier = new CyclicBarrier(4);
            List<Running<Boolean>> askers = IntStream.range(0, 4)
                    .mapToObj(asker -> threads.start("asker " + asker, () -> {
                        barrier.await();
                        boolean entered = lock.readLock().tryLock();
                        barrier.await();
                        if (entered) {
                            lock.readLock().unlock();
                        }
                        return entered;
                    }))
                    .toList();
            askers.forEach(asker -> assertThat(asker.result()).isTrue());
            lock.writeLock().lock();
            lock.writeLock().unlock();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("whoever is interrupted while he waits for another JVM, "
            + "or has waited for long enough, leaves nothing behind")
    void departuresLeaveNothing(boolean write) {
        plain.writeLock().lock();
        Running<Boolean> interrupted = threads.start("interrupted", () -> {
            assertThatThrownBy(() -> view(write).lockInterruptibly()).isInstanceOf(InterruptedException.class);
        });
        assertThat(interrupted.endsWithin(SHORT)).isFalse();
        interrupted.thread().interrupt();
        interrupted.result();
        for (long millis : new long[] {0, 1, 3, 10, 30, 100}) {
            assertThat(threads.start("timed", () -> view(write).tryLock(millis, TimeUnit.MILLISECONDS))
                            .result())
                    .isFalse();
        }
        plain.writeLock().unlock();
        await("given back").until(() -> redis.keys().isEmpty());
        assertFree(rival.writeLock());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("that is lost is told of, to the thread that has it as well")
    void lossIsTold(boolean write) {
        var told = new AtomicReference<LeaseLostException>();
        Runnable listening = lock.onLost(told::set);
        view(write).lock();
        redis.keys().forEach(key -> redis.command("DEL", key));
        await("told").until(() -> told.get() != null);
        assertThatThrownBy(() -> {
                    if (write) {
                        lock.writeLock().assertHeld();
                    } else {
                        lock.readLock().assertHeld();
                    }
                })
                .isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(view(write)::unlock).isInstanceOf(LeaseLostException.class);
        listening.run();
        assertFree(view(write));
        assertFree(rival.writeLock());
    }

    @Test
    @DisplayName("that is found lost at the downgrade is lost for the reader, too")
    void lossAtDowngrade() {
        lock.writeLock().lock();
        lock.readLock().lock();
        redis.keys().forEach(key -> redis.command("DEL", key));
        plain.writeLock().lock();
        assertThatThrownBy(lock.writeLock()::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock.readLock()::assertHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock.readLock()::unlock).isInstanceOf(LeaseLostException.class);
        plain.writeLock().unlock();
        assertFree(lock.writeLock());
    }

    @Test
    @DisplayName("goes on being held for reading after a downgrade, for longer than a check of it takes")
    void downgradedTurnLasts() {
        lock.writeLock().lock();
        lock.readLock().lock();
        lock.writeLock().unlock();
        var released = new CountDownLatch(1);
        Running<Boolean> watch = threads.start("watch", () -> released.await(2_500, TimeUnit.MILLISECONDS));
        assertThat(watch.result()).isFalse();
        lock.readLock().assertHeld();
        assertTaken(plain.writeLock());
        lock.readLock().unlock();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @DisplayName("ends with the session")
    void closingGivesBack(boolean write) {
        RReadWriteLock object = myClient().getReadWriteLock(name);
        Interlock session = session(myClient());
        DistributedReadWriteLock closing = session.adapt(object);
        Lock held = write ? closing.writeLock() : closing.readLock();
        held.lock();
        assertTaken(plain.writeLock());
        session.close();
        assertFree(plain.writeLock());
        assertThatThrownBy(held::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> closing.readLock().lock()).isInstanceOf(IllegalStateException.class);
    }

    @Test
    @DisplayName("has neither token nor conditions, and says why")
    void refusals() {
        lock.writeLock().lock();
        assertThatThrownBy(lock.writeLock()::fencingToken)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("no fencing tokens");
        lock.writeLock().unlock();
        assertThatThrownBy(lock.writeLock()::newCondition)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("no conditions");
        RReadWriteLock object = myClient().getReadWriteLock(name);
        assertThat(mine.adapt(object)).isSameAs(mine.adapt(object));
    }
}
