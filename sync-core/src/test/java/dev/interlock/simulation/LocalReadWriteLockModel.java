package dev.interlock.simulation;

import dev.interlock.internal.lock.LocalReadWriteLock;
import dev.interlock.internal.lock.ReadWriteHalves;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * What a read-write lock's JDK superclass does for it: {@link java.util.concurrent.locks.ReentrantReadWriteLock}. As
 * there, a thread that comes may overtake those that were woken, unless the lock is fair; but one that would share does
 * not overtake a first one that wouldn't.
 */
final class LocalReadWriteLockModel extends LocalLockModel implements LocalReadWriteLock {
    private final Lock reading = new Reading();
    private final Map<Thread, Integer> shares = new LinkedHashMap<>();

    /** Makes the local half of a lock. */
    static ReadWriteHalves halvesToShare(Jvm jvm, boolean fair) {
        return new ReadWriteHalves(
                new LocalReadWriteLockModel(jvm, fair), fair, () -> new LocalReadWriteLockModel(jvm, fair), jvm::clock);
    }

    LocalReadWriteLockModel(Jvm jvm, boolean fair) {
        super(jvm, fair);
    }

    @Override
    boolean isFree() {
        return shares.isEmpty();
    }

    private boolean share() {
        if (!isOwned() || holds() > 0) {
            shares.merge(Thread.currentThread(), 1, Integer::sum);
            return true;
        }
        return false;
    }

    private boolean shareAtOnce() {
        boolean isInside = holds() > 0 || sharedHolds() > 0;
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

    @Override
    public Lock readLock() {
        return reading;
    }

    @Override
    public int sharedHolds() {
        return shares.getOrDefault(Thread.currentThread(), 0);
    }

    @Override
    public int shares() {
        return shares.values().stream().mapToInt(Integer::intValue).sum();
    }

    @Override
    public boolean isHeld() {
        return isOwned() || !shares.isEmpty();
    }

    @Override
    public boolean isAnnounced() {
        return true;
    }
}
