package dev.interlock.internal.semaphore;

import java.util.Collection;

/** The permits that a session was granted and nobody in it has taken yet, and the queue of those that wait for them. */
public interface PermitStock {
    /** Takes permits if they are there, past all waiters. */
    boolean tryAcquire(int permits);

    void release(int permits);

    int availablePermits();

    int drainPermits();

    /** Returns those that wait, the one that has waited longest first. */
    Collection<?> queued();
}
