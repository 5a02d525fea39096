package dev.interlock.readwrite;

import dev.interlock.testing.HiddenMethod;
import java.util.Collection;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/** What a {@link ReentrantReadWriteLock} shows only to its subclasses. */
final class ReadWriteLockProbe {
    private static final HiddenMethod GET_OWNER = method("getOwner");
    private static final HiddenMethod GET_QUEUED_THREADS = method("getQueuedThreads");
    private static final HiddenMethod GET_QUEUED_READERS = method("getQueuedReaderThreads");
    private static final HiddenMethod GET_QUEUED_WRITERS = method("getQueuedWriterThreads");
    private static final HiddenMethod GET_WAITING_THREADS = method("getWaitingThreads", Condition.class);

    private ReadWriteLockProbe() {}

    private static HiddenMethod method(String name, Class<?>... parameters) {
        return new HiddenMethod(ReentrantReadWriteLock.class, name, parameters);
    }

    static @Nullable Thread owner(ReentrantReadWriteLock lock) {
        return (Thread) GET_OWNER.on(lock);
    }

    static Collection<?> queuedThreads(ReentrantReadWriteLock lock) {
        return GET_QUEUED_THREADS.listOf(lock);
    }

    static Collection<?> queuedReaders(ReentrantReadWriteLock lock) {
        return GET_QUEUED_READERS.listOf(lock);
    }

    static Collection<?> queuedWriters(ReentrantReadWriteLock lock) {
        return GET_QUEUED_WRITERS.listOf(lock);
    }

    static Collection<?> waitingThreads(ReentrantReadWriteLock lock, @Nullable Condition condition) {
        return GET_WAITING_THREADS.listOf(lock, condition);
    }
}
