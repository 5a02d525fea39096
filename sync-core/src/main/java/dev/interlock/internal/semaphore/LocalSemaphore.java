package dev.interlock.internal.semaphore;

import java.util.Collection;
import java.util.List;

/** The local half of a semaphore: the superclass, in which threads wait for the permits of the stock. */
public interface LocalSemaphore extends PermitStock {
    void acquire(int permits) throws InterruptedException;

    void acquireUninterruptibly(int permits);

    boolean tryAcquire(int permits, long waitNanos) throws InterruptedException;

    /** Returns the threads that are parked, the one that has waited longest first. */
    List<Thread> queuedThreads();

    @Override
    default Collection<?> queued() {
        return queuedThreads();
    }
}
