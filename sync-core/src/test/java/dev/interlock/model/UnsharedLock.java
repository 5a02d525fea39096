package dev.interlock.model;

import dev.interlock.internal.lock.LocalLock;
import java.io.Serial;
import java.util.concurrent.locks.ReentrantLock;

/** The local half of a lock, as its superclass has it. */
final class UnsharedLock extends ReentrantLock implements LocalLock {
    @Serial
    private static final long serialVersionUID = 1L;

    @Override
    public boolean tryLock(long waitNanos) throws InterruptedException {
        // Lincheck knows no time.
        lockInterruptibly();
        return true;
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
        return false;
    }
}
