package dev.interlock.internal.semaphore;

import java.util.List;

/**
 * The superclass of a drop-in: permits that the session has been granted and no thread has taken yet, and who waits for
 * them.
 */
public interface LocalSemaphore {
    void acquire(int permits) throws InterruptedException;

    void acquireUninterruptibly(int permits);

    boolean tryAcquire(int permits, long waitNanos) throws InterruptedException;

    /** Takes permits if they are there, past all who wait. */
    boolean tryAcquire(int permits);

    void release(int permits);

    int availablePermits();

    int drainPermits();

    /** Returns the threads that are parked, the one that has waited longest first. */
    List<Thread> queuedThreads();
}
