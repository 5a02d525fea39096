package dev.interlock.readwrite;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/** What a {@link ReentrantReadWriteLock} shows only to its subclasses. */
final class ReadWriteLockProbe {

    private static final Method GET_OWNER = method("getOwner");
    private static final Method GET_QUEUED_THREADS = method("getQueuedThreads");
    private static final Method GET_QUEUED_READERS = method("getQueuedReaderThreads");
    private static final Method GET_QUEUED_WRITERS = method("getQueuedWriterThreads");
    private static final Method GET_WAITING_THREADS = method("getWaitingThreads", Condition.class);

    private ReadWriteLockProbe() {}

    static @Nullable Thread owner(ReentrantReadWriteLock lock) {
        return (Thread) call(GET_OWNER, lock);
    }

    static Collection<?> queuedThreads(ReentrantReadWriteLock lock) {
        return collection(call(GET_QUEUED_THREADS, lock));
    }

    static Collection<?> queuedReaders(ReentrantReadWriteLock lock) {
        return collection(call(GET_QUEUED_READERS, lock));
    }

    static Collection<?> queuedWriters(ReentrantReadWriteLock lock) {
        return collection(call(GET_QUEUED_WRITERS, lock));
    }

    static Collection<?> waitingThreads(ReentrantReadWriteLock lock, @Nullable Condition condition) {
        return collection(call(GET_WAITING_THREADS, lock, condition));
    }

    private static Collection<?> collection(@Nullable Object result) {
        return (Collection<?>) Objects.requireNonNull(result);
    }

    private static @Nullable Object call(Method method, Object target, @Nullable Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException refused) {
                throw refused;
            }
            throw new AssertionError(method + " failed", e.getCause());
        } catch (IllegalAccessException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static Method method(String name, Class<?>... parameters) {
        try {
            Method method = ReentrantReadWriteLock.class.getDeclaredMethod(name, parameters);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
