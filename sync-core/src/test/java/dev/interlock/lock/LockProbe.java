package dev.interlock.lock;

import dev.interlock.testing.HiddenMethod;
import java.lang.reflect.Field;
import java.util.Collection;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ReentrantLock} shows only to its subclasses, and the hold count that no test could reach by locking.
 */
final class LockProbe {
    private static final HiddenMethod GET_OWNER = new HiddenMethod(ReentrantLock.class, "getOwner");
    private static final HiddenMethod GET_QUEUED_THREADS = new HiddenMethod(ReentrantLock.class, "getQueuedThreads");
    private static final HiddenMethod GET_WAITING_THREADS =
            new HiddenMethod(ReentrantLock.class, "getWaitingThreads", Condition.class);
    private static final HiddenMethod SET_STATE =
            new HiddenMethod(AbstractQueuedSynchronizer.class, "setState", int.class);

    private LockProbe() {}

    static @Nullable Thread owner(ReentrantLock lock) {
        return (Thread) GET_OWNER.on(lock);
    }

    static Collection<?> queuedThreads(ReentrantLock lock) {
        return GET_QUEUED_THREADS.listOf(lock);
    }

    static Collection<?> waitingThreads(ReentrantLock lock, @Nullable Condition condition) {
        return GET_WAITING_THREADS.listOf(lock, condition);
    }

    /** Makes the thread that owns the lock hold it so many times. */
    static void setHoldCount(ReentrantLock lock, int holds) {
        try {
            Field sync = ReentrantLock.class.getDeclaredField("sync");
            sync.setAccessible(true);
            SET_STATE.on(sync.get(lock), holds);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
