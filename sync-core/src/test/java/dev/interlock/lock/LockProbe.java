package dev.interlock.lock;

import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ReentrantLock} shows only to its subclasses, and the hold count that no test could reach by locking.
 */
final class LockProbe {

    private static final Method GET_OWNER = method(ReentrantLock.class, "getOwner");
    private static final Method GET_QUEUED_THREADS = method(ReentrantLock.class, "getQueuedThreads");
    private static final Method GET_WAITING_THREADS = method(ReentrantLock.class, "getWaitingThreads", Condition.class);
    private static final Field SYNC = field(ReentrantLock.class, "sync");
    private static final Method SET_STATE = method(AbstractQueuedSynchronizer.class, "setState", int.class);

    private LockProbe() {}

    static @Nullable Thread owner(ReentrantLock lock) {
        return (Thread) call(GET_OWNER, lock);
    }

    static Collection<?> queuedThreads(ReentrantLock lock) {
        return (Collection<?>) required(call(GET_QUEUED_THREADS, lock));
    }

    static Collection<?> waitingThreads(ReentrantLock lock, @Nullable Condition condition) {
        return (Collection<?>) required(call(GET_WAITING_THREADS, lock, condition));
    }

    /** Makes the thread that owns the lock hold it so many times. */
    static void setHoldCount(ReentrantLock lock, int holds) {
        try {
            call(SET_STATE, SYNC.get(lock), holds);
        } catch (IllegalAccessException e) {
            throw new LinkageError(e.getMessage(), e);
        }
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

    private static Object required(@Nullable Object result) {
        if (result == null) {
            throw new AssertionError("null instead of a collection");
        }
        return result;
    }

    private static Method method(Class<?> owner, String name, Class<?>... parameters) {
        try {
            return accessible(owner.getDeclaredMethod(name, parameters));
        } catch (NoSuchMethodException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static Field field(Class<?> owner, String name) {
        try {
            return accessible(owner.getDeclaredField(name));
        } catch (NoSuchFieldException e) {
            throw new LinkageError(e.getMessage(), e);
        }
    }

    private static <T extends AccessibleObject> T accessible(T member) {
        member.setAccessible(true);
        return member;
    }
}
