package dev.interlock.internal.semaphore;

import java.util.concurrent.locks.ReentrantLock;

/** Looks at a session's permits without changing anything, as no thread of the library would. */
public final class PermitProbe {
    private PermitProbe() {}

    /** Returns how many permits threads have that certainly are the session's, by its clock. */
    public static long valid(SemaphoreSync semaphore) {
        ReentrantLock mutex = semaphore.remote().mutex();
        mutex.lock();
        try {
            return semaphore.remote().isValid() ? semaphore.stock.holdings.valid() : 0;
        } finally {
            mutex.unlock();
        }
    }

    /** Returns whether the current thread has what others would wait for without the session's knowledge. */
    public static boolean isGuarded(SemaphoreSync semaphore) {
        return semaphore.remote().mutex().isHeldByCurrentThread();
    }
}
