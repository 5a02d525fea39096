package dev.interlock.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An object that is used only with a mutex held.
 *
 * @param <T> its type
 */
public final class Locked<T> {
    private final ReentrantLock mutex;

    @GuardedBy("mutex")
    private final T object;

    /** Guards an object by a mutex. */
    public Locked(ReentrantLock mutex, T object) {
        this.mutex = mutex;
        this.object = object;
    }

    /** Calls the object, with the mutex held. */
    public <R extends @Nullable Object> R call(Function<? super T, R> action) {
        mutex.lock();
        try {
            return action.apply(object);
        } finally {
            mutex.unlock();
        }
    }

    /** As {@link #call}, for what returns nothing. */
    public void run(Consumer<? super T> action) {
        mutex.lock();
        try {
            action.accept(object);
        } finally {
            mutex.unlock();
        }
    }
}
