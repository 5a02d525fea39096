package dev.interlock.internal.lock;

import dev.interlock.internal.DropIn;
import java.io.Serial;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/** A half that takes the place of a {@link ReentrantReadWriteLock}. */
public final class SpareReadWriteLock extends ReentrantReadWriteLock implements LocalReadWriteLock {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates it, for the threads of a fair lock or one that isn't. */
    public SpareReadWriteLock(boolean fair) {
        super(fair);
    }

    @Override
    public boolean tryLock() {
        return writeLock().tryLock();
    }

    @Override
    public boolean tryLock(long waitNanos) throws InterruptedException {
        return writeLock().tryLock(waitNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void unlock() {
        writeLock().unlock();
    }

    @Override
    public int holds() {
        return getWriteHoldCount();
    }

    @Override
    public boolean isOwned() {
        return isWriteLocked();
    }

    @Override
    public boolean isWanted() {
        return hasQueuedThreads();
    }

    @Override
    public boolean isQueued(Thread thread) {
        return hasQueuedThread(thread);
    }

    @Override
    public boolean isAnnounced() {
        return true;
    }

    @Override
    public @Nullable Thread owner() {
        return getOwner();
    }

    @Override
    public List<Thread> queued() {
        return DropIn.firstToLast(getQueuedThreads());
    }

    @Override
    public int sharedHolds() {
        return getReadHoldCount();
    }

    @Override
    public int shares() {
        return getReadLockCount();
    }
}
