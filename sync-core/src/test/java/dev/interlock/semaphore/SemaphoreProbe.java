package dev.interlock.semaphore;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** What a {@link Semaphore} shows only to its subclasses. */
final class SemaphoreProbe {

    private static final Method GET_QUEUED_THREADS = method("getQueuedThreads");
    private static final Method REDUCE_PERMITS = method("reducePermits", int.class);

    private SemaphoreProbe() {}

    static Collection<?> queuedThreads(Semaphore semaphore) {
        return (Collection<?>) Objects.requireNonNull(call(GET_QUEUED_THREADS, semaphore));
    }

    static void reducePermits(Semaphore semaphore, int reduction) {
        call(REDUCE_PERMITS, semaphore, reduction);
    }

    private static @Nullable Object call(Method method, Object target, @Nullable Object... arguments) {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException refused) {
                throw refused;
            }
            if (e.getCause() instanceof Error refused) {
                throw refused;
            }
            throw new AssertionError(method + " failed", e.getCause());
        } catch (IllegalAccessException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static Method method(String name, Class<?>... parameters) {
        try {
            Method method = Semaphore.class.getDeclaredMethod(name, parameters);
            method.setAccessible(true);
            return method;
        } catch (NoSuchMethodException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }
}
