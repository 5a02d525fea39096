package dev.interlock.internal.lock;

import dev.interlock.internal.DropIn;
import java.io.Serial;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** A half that takes the place of a {@link ReentrantLock}. */
public final class SpareLock extends ReentrantLock implements LocalLock {
    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates it, for the threads of a fair lock or one that isn't. */
    public SpareLock(boolean fair) {
        super(fair);
    }

    @Override
    public boolean tryLock(long waitNanos) throws InterruptedException {
        return tryLock(waitNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public int holds() {
        return getHoldCount();
    }

    @Override
    public boolean isHeld() {
        return isLocked();
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
        return isFair();
    }

    @Override
    public @Nullable Thread owner() {
        return getOwner();
    }

    @Override
    public List<Thread> queued() {
        return DropIn.firstToLast(getQueuedThreads());
    }
}
