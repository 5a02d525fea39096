package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.SemaphoreOptions;
import dev.interlock.testing.Actor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Test;

/** What close(Duration) means to readers and writers, permits and conditions, and what works meanwhile. */
class CloseAwaitSynchronizersTest extends CloseAwaitFixture {
    @Test
    void readersAndWritersAreWaitedFor() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReadWriteLock lock = session.readWriteLock(NAME);
        DistributedReadWriteLock written = session.readWriteLock("written");
        Actor reader = actor("reader");
        Actor second = actor("second");
        Actor writer = actor("writer");
        reader.run(lock.readLock()::lock);
        second.run(lock.readLock()::lock);
        writer.run(written.writeLock()::lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        assertRefused(lock.readLock()::lock);
        assertRefused(lock.readLock()::lockInterruptibly);
        assertRefused(lock.readLock()::tryLock);
        assertRefused(() -> lock.readLock().tryLock(1, TimeUnit.HOURS));
        assertRefused(written.writeLock()::lock);
        assertRefused(written.readLock()::tryLock);
        reader.run(() -> {
            lock.readLock().lock();
            lock.readLock().unlock();
            lock.readLock().unlock();
        });
        writer.run(() -> {
            written.readLock().lock();
            written.writeLock().unlock();
        });
        assertThat(closed).isNotDone();
        second.run(lock.readLock()::unlock);
        assertThat(closed).isNotDone();
        writer.run(written.readLock()::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
    }

    @Test
    void permitsAreWaitedForUnlessTheyAreNobodys() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedSemaphore semaphore = session.semaphore("pool", 3);
        DistributedSemaphore unowned = session.semaphore("nobodys", 3, SemaphoreOptions.unowned());
        Actor holder = actor("holder");
        holder.run(() -> semaphore.acquire(2));
        unowned.acquireUninterruptibly();
        CompletableFuture<Boolean> waiting = actor("waiter").begin(() -> semaphore.acquire(2));
        await("it waits").until(semaphore::hasQueuedThreads);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        assertSentAway(waiting);
        assertRefused(semaphore::acquire);
        assertRefused(semaphore::acquireUninterruptibly);
        assertRefused(semaphore::tryAcquire);
        assertRefused(() -> semaphore.tryAcquire(1, TimeUnit.HOURS));
        assertRefused(semaphore::drainPermits);
        assertThat(semaphore.availablePermits()).isEqualTo(1);
        holder.run(() -> semaphore.release());
        assertThat(closed).isNotDone();
        holder.run(() -> semaphore.release());
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
        assertThat(session().semaphore("pool", 3).availablePermits()).isEqualTo(3);
    }

    /** A holder may wait for a condition meanwhile: it gets its lock back. */
    @Test
    @SuppressWarnings("WaitNotInLoop") // it is signalled once
    void aHolderComesBackFromACondition() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock lock = lock(session, NAME);
        DistributedReentrantLock other = lock(session(), NAME);
        DistributedReentrantLock held = lock(session, "held");
        Condition mine = lock.newCondition("changed");
        Condition theirs = other.newCondition("changed");
        Actor keeper = actor("keeper");
        Actor waiter = actor("waiter");
        keeper.run(held::lock);
        AtomicBoolean isBack = new AtomicBoolean();
        CompletableFuture<Boolean> waited = waiter.begin(() -> {
            lock.lock();
            try {
                mine.await();
                lock.assertHeld();
                isBack.set(true);
            } finally {
                lock.unlock();
            }
        });
        Actor signaller = actor("signaller");
        await("it waits").until(() -> signaller.get(() -> isAwaited(other, theirs)));
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        signaller.run(() -> {
            other.lock();
            theirs.signal();
            other.unlock();
        });
        assertThat(waited).succeedsWithin(PATIENCE);
        assertThat(isBack).isTrue();
        assertThat(closed).isNotDone();
        keeper.run(held::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertNothingIsLost();
    }

    private static boolean isAwaited(DistributedReentrantLock lock, Condition condition) {
        lock.lock();
        try {
            return lock.hasWaiters(condition);
        } finally {
            lock.unlock();
        }
    }

    @Test
    void latchesBarriersAndRateLimitersWorkMeanwhile() {
        Interlock session = session(builder -> builder.listener(recorder));
        DistributedReentrantLock held = lock(session, "held");
        Actor holder = actor("holder");
        holder.run(held::lock);
        CompletableFuture<Boolean> closed = beginToClose(session, LONG);
        holder.run(() -> {
            session.countDownLatch("latch", 1).countDown();
            assertThat(session.countDownLatch("latch", 1).await(10, TimeUnit.SECONDS))
                    .isTrue();
            assertThat(session.ping()).isPositive();
        });
        assertThat(closed).isNotDone();
        holder.run(held::unlock);
        assertThat(closed).succeedsWithin(PATIENCE);
        assertThatThrownBy(session::ping).isInstanceOf(IllegalStateException.class);
    }
}
