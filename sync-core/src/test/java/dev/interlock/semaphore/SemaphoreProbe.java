package dev.interlock.semaphore;

import dev.interlock.testing.HiddenMethod;
import java.util.Collection;
import java.util.concurrent.Semaphore;

/** What a {@link Semaphore} shows only to its subclasses. */
final class SemaphoreProbe {
    private static final HiddenMethod GET_QUEUED_THREADS = new HiddenMethod(Semaphore.class, "getQueuedThreads");
    private static final HiddenMethod REDUCE_PERMITS = new HiddenMethod(Semaphore.class, "reducePermits", int.class);

    private SemaphoreProbe() {}

    static Collection<?> queuedThreads(Semaphore semaphore) {
        return GET_QUEUED_THREADS.listOf(semaphore);
    }

    static void reducePermits(Semaphore semaphore, int reduction) {
        REDUCE_PERMITS.on(semaphore, reduction);
    }
}
