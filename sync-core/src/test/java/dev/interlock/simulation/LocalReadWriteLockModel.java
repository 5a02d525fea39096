package dev.interlock.simulation;

import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.LocalReadWriteLock;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * What a read-write lock's JDK superclass does for it: {@link java.util.concurrent.locks.ReentrantReadWriteLock}. As
 * there, a thread that comes may overtake those that were woken, unless the lock is fair; but one that would share does
 * not overtake a first one that wouldn't.
 */
final class LocalReadWriteLockModel implements LocalReadWriteLock {
    private final Jvm jvm;
    private final boolean fair;
    private final Lock reading = new Reading();
    private final Lock writing = new Writing();
    private final QueueModel queue;
    private final Map<Thread, Integer> shares = new HashMap<>();
    private @Nullable Thread owner;
    private int holds;

    LocalReadWriteLockModel(Jvm jvm, boolean fair) {
        this.jvm = jvm;
        this.fair = fair;
        this.queue = new QueueModel(jvm);
    }

    // ---- whole

    private boolean take() {
        Thread thread = Thread.currentThread();
        if (owner == thread || (owner == null && shares.isEmpty())) {
            owner = thread;
            holds++;
            return true;
        }
        return false;
    }

    private boolean takeAtOnce() {
        return (owner == Thread.currentThread() || !fair || !queue.hasPredecessors()) && take();
    }

    @Override
    public void lock() {
        queue.preempt();
        if (!takeAtOnce()) {
            queue.await(false, this::take);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        tryLock(QueueModel.FOREVER);
    }

    @Override
    public boolean tryLock(long waitNanos) throws InterruptedException {
        queue.preempt();
        long start = jvm.clock();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return takeAtOnce() || queue.await(false, this::take, waitNanos, start);
    }

    @Override
    public boolean tryLock() {
        queue.preempt();
        return take();
    }

    @Override
    public void unlock() {
        if (owner != Thread.currentThread()) {
            throw new IllegalMonitorStateException("not the owner");
        }
        queue.preempt();
        holds--;
        if (holds == 0) {
            owner = null;
            queue.wakeFirst();
            queue.preempt();
        }
    }

    @Override
    public int holds() {
        return owner == Thread.currentThread() ? holds : 0;
    }

    @Override
    public boolean isOwned() {
        return owner != null;
    }

    // ---- shared

    private boolean share() {
        Thread thread = Thread.currentThread();
        if (owner == null || owner == thread) {
            shares.merge(thread, 1, Integer::sum);
            return true;
        }
        return false;
    }

    private boolean shareAtOnce() {
        boolean isInside = owner == Thread.currentThread() || sharedHolds() > 0;
        boolean isBehind = fair ? queue.hasPredecessors() : queue.isFirstExclusive();
        return (isInside || !isBehind) && share();
    }

    /** What shares it. */
    private final class Reading implements Lock {
        @Override
        public void lock() {
            queue.preempt();
            if (!shareAtOnce()) {
                queue.await(true, LocalReadWriteLockModel.this::share);
            }
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            tryLock(QueueModel.FOREVER, TimeUnit.NANOSECONDS);
        }

        @Override
        public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
            queue.preempt();
            long start = jvm.clock();
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            return shareAtOnce() || queue.await(true, LocalReadWriteLockModel.this::share, unit.toNanos(wait), start);
        }

        @Override
        public boolean tryLock() {
            queue.preempt();
            return share();
        }

        @Override
        public void unlock() {
            if (sharedHolds() == 0) {
                throw new IllegalMonitorStateException("not a reader");
            }
            queue.preempt();
            Thread thread = Thread.currentThread();
            shares.computeIfPresent(thread, (reader, count) -> count == 1 ? null : count - 1);
            if (shares.isEmpty()) {
                queue.wakeFirst();
                queue.preempt();
            }
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException("who reads can't wait for a condition");
        }
    }

    /** What takes it. */
    private final class Writing implements Lock {
        private final LocalLock whole = LocalReadWriteLockModel.this;

        @Override
        public void lock() {
            whole.lock();
        }

        @Override
        public void lockInterruptibly() throws InterruptedException {
            whole.lockInterruptibly();
        }

        @Override
        public boolean tryLock() {
            return whole.tryLock();
        }

        @Override
        public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
            return whole.tryLock(unit.toNanos(wait));
        }

        @Override
        public void unlock() {
            whole.unlock();
        }

        @Override
        public Condition newCondition() {
            throw new UnsupportedOperationException("the library has conditions of its own");
        }
    }

    @Override
    public Lock readLock() {
        return reading;
    }

    @Override
    public Lock writeLock() {
        return writing;
    }

    @Override
    public int sharedHolds() {
        return shares.getOrDefault(Thread.currentThread(), 0);
    }

    @Override
    public boolean isShared() {
        return !shares.isEmpty();
    }

    // ---- both

    @Override
    public boolean isHeld() {
        return owner != null || !shares.isEmpty();
    }

    @Override
    public boolean isWanted() {
        return !queue.isEmpty();
    }

    @Override
    public boolean isQueued(Thread thread) {
        return queue.contains(thread);
    }

    @Override
    public boolean isAnnounced() {
        return true;
    }
}
