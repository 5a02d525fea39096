package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.SemaphoreOptions;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * All sessions say the same about one name: how many permits or parties, which count; a session says the same each
 * time. Who differs is told both, and nothing changes.
 */
class AgreementTest {
    private static RedisServer server;
    private static Interlock mine;
    private static Interlock other;

    @BeforeAll
    static void open() {
        server = RedisServer.launch();
        mine = Interlock.connect(server.url());
        other = Interlock.connect(server.url());
    }

    @AfterAll
    static void close() {
        mine.close();
        other.close();
        server.close();
    }

    // ---- read-write locks

    /** One session has one lock of a name, and the lock of the same name is another one. */
    @Test
    void readWriteLockIsFairOrNotInASession() {
        DistributedReadWriteLock lock = mine.readWriteLock("fair");
        assertThat(mine.readWriteLock("fair")).isSameAs(lock);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mine.fairReadWriteLock("fair"))
                .withMessageContaining("'fair' is in use in this session as one that is not fair");
        assertThat(other.fairReadWriteLock("fair").isFair()).isTrue();
        lock.writeLock().lock();
        assertThat(mine.lock("fair").tryLock()).isTrue();
        mine.lock("fair").unlock();
        assertThat(other.fairReadWriteLock("fair").readLock().tryLock()).isFalse();
        lock.writeLock().unlock();
    }

    // ---- semaphores

    /** One number of permits and one kind of ownership, in all sessions; each session chooses its fairness. */
    @Test
    void semaphoreHasOneNumberAndOneOwnership() {
        DistributedSemaphore semaphore = mine.semaphore("stated", 3);
        assertThat(mine.semaphore("stated", 3)).isSameAs(semaphore);
        for (Interlock session : List.of(mine, other)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.semaphore("stated", 4))
                    .withMessageContainingAll("stated", "4 permits, but has 3");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.semaphore("stated", 3, SemaphoreOptions.unowned()))
                    .withMessageContainingAll("stated", "nobody");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mine.semaphore("stated", 3, SemaphoreOptions.fair()))
                .withMessageContaining("fair");
        assertThat(other.semaphore("stated", 3, SemaphoreOptions.fair()).isFair())
                .isTrue();
    }

    @Test
    void resizedSemaphoreHasTheNewNumber() {
        DistributedSemaphore semaphore = mine.semaphore("resized", 3);
        DistributedSemaphore same = other.semaphore("resized", 3);
        assertThat(semaphore.tryAcquire(2)).isTrue();
        same.resize(1);
        assertThat(semaphore.availablePermits()).isEqualTo(-1);
        assertThat(mine.semaphore("resized", 1)).isSameAs(semaphore);
        assertThatIllegalArgumentException().isThrownBy(() -> other.semaphore("resized", 3));
        semaphore.release(2);
        assertThat(same.availablePermits()).isEqualTo(1);
    }

    // ---- barriers

    @Test
    void barrierHasOneNumberOfParties() {
        DistributedCyclicBarrier barrier = mine.cyclicBarrier("parties", 3);
        for (Interlock session : List.of(mine, other, other)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.cyclicBarrier("parties", 4))
                    .withMessageContainingAll("is one of 3 parties", "one of 4");
        }
        assertThat(other.cyclicBarrier("parties", 3).getParties()).isEqualTo(3);
        assertThat(mine.cyclicBarrier("parties", 3)).isSameAs(barrier);
    }

    @Test
    void barrierHasOneActionInASession() {
        Runnable action = () -> {};
        Runnable another = () -> {};
        DistributedCyclicBarrier barrier = mine.cyclicBarrier("action", 1, action);
        assertThat(mine.cyclicBarrier("action", 1, action)).isSameAs(barrier);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> mine.cyclicBarrier("action", 1, another))
                .withMessageContaining("another action");
        assertThatIllegalArgumentException().isThrownBy(() -> mine.cyclicBarrier("action", 1));
        assertThat(other.cyclicBarrier("action", 1, another).getName()).isEqualTo("action");
        assertThat(mine.cyclicBarrier("none", 1, null)).isSameAs(mine.cyclicBarrier("none", 1));
    }

    // ---- latches

    @Test
    void latchHasOneCount() {
        DistributedCountDownLatch latch = mine.countDownLatch("count", 3);
        latch.countDown();
        for (Interlock session : List.of(mine, other)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.countDownLatch("count", 5))
                    .withMessageContainingAll("'count'", "count of 3", "count of 5");
            assertThat(session.countDownLatch("count", 3).getCount()).isEqualTo(2);
        }
        assertThat(mine.countDownLatch("count", 3)).isSameAs(latch);
        latch.countDown();
        latch.countDown();
        assertThatIllegalArgumentException().isThrownBy(() -> other.countDownLatch("count", 5));
        assertThat(other.countDownLatch("count", 3).getCount()).isZero();
    }

    /** A name is free again when its retention is over, also for a session that still has the latch of before. */
    @Test
    void nameOfALatchIsFreeAfterItsRetention() throws InterruptedException {
        Duration retention = Duration.ofSeconds(5);
        DistributedCountDownLatch first = mine.countDownLatch("free", 1, retention);
        first.countDown();
        assertThat(mine.countDownLatch("free", 1, retention)).isSameAs(first);
        await("the end of the retention")
                .atMost(Duration.ofSeconds(30))
                .until(() -> server.keys("interlock:{free}:latch").isEmpty());
        DistributedCountDownLatch next = mine.countDownLatch("free", 2, retention);
        assertThat(next).isNotSameAs(first);
        assertThat(next.getCount()).isEqualTo(2);
        assertThat(other.countDownLatch("free", 2).getCount()).isEqualTo(2);
        first.countDown();
        first.await();
        assertThat(first.getCount()).isZero();
        assertThat(next.getCount()).isEqualTo(2);
    }

    // ---- names

    /** A lock, a latch and a read-write lock of one name have nothing to do with each other. */
    @Test
    void oneNameIsOfDifferentThings() {
        DistributedCountDownLatch latch = mine.countDownLatch("shared", 1);
        assertThat(mine.lock("shared").tryLock()).isTrue();
        assertThat(mine.readWriteLock("shared").readLock().tryLock()).isTrue();
        latch.countDown();
        assertThat(latch.getCount()).isZero();
        mine.readWriteLock("shared").readLock().unlock();
        mine.lock("shared").unlock();
    }

    @Test
    void namespaceSeparatesLatches() {
        try (Interlock spaced =
                Interlock.builder().uri(server.url()).namespace("team").open()) {
            assertThat(spaced.countDownLatch("spaced", 4).getName()).isEqualTo("spaced");
            assertThat(mine.countDownLatch("spaced", 3).getCount()).isEqualTo(3);
            assertThat(server.keys("interlock:{team:spaced}:latch")).hasSize(1);
        }
    }

    @Test
    void keyOfAnotherTypeIsRefusedByABarrier() {
        String key = "interlock:{typed}:barrier";
        server.command("SET", key, "x");
        assertThatIllegalStateException()
                .isThrownBy(() -> mine.cyclicBarrier("typed", 2))
                .withMessageContaining("typed");
        server.command("DEL", key);
        // What is refused last may be the sign-off of the object that nobody got.
        DistributedCyclicBarrier barrier = await("the key is free")
                .ignoreException(IllegalStateException.class)
                .until(() -> mine.cyclicBarrier("typed", 1), free -> true);
        server.command("DEL", key);
        server.command("SET", key, "x");
        assertThatIllegalStateException().isThrownBy(barrier::await);
        assertThatIllegalStateException().isThrownBy(barrier::isBroken);
        server.command("DEL", key);
    }
}
