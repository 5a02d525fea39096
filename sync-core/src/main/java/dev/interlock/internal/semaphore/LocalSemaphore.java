package dev.interlock.internal.semaphore;

import java.util.List;

/**
 * The local half of a semaphore: the superclass, which has the permits that the session was granted and no thread has
 * taken yet, and the queue of threads that wait for them.
 */
public interface LocalSemaphore {
    void acquire(int permits) throws InterruptedException;

    void acquireUninterruptibly(int permits);

    boolean tryAcquire(int permits, long waitNanos) throws InterruptedException;

    /** Takes permits if they are there, past all waiters. */
    boolean tryAcquire(int permits);

    void release(int permits);

    int availablePermits();

    int drainPermits();

    /** Returns the threads that are parked, the one that has waited longest first. */
    List<Thread> queuedThreads();
}
