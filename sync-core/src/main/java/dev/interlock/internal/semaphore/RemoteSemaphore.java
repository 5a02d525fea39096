package dev.interlock.internal.semaphore;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a semaphore: the pool of permits that all JVMs share. It owns what the session knows of both
 * halves, the {@link LocalPermits}: each event changes them under the mutex, and their effects are carried out then.
 *
 * <p>Futures may be completed under the mutex; a thread that waits for one doesn't hold it.
 */
public interface RemoteSemaphore {

    /** Makes the remote half of a local half. */
    interface Factory {
        /** Makes the remote half. */
        RemoteSemaphore create(LocalSemaphore local);
    }

    /** Returns the mutex of both halves. */
    ReentrantLock mutex();

    /** Returns how many permits there are in all, as was stated or was last heard; 0 if that isn't known. */
    int permits();

    /** Returns the permits of the session, which are used with the mutex held. */
    LocalPermits local();

    /** Has an event change the permits of the session, and carries out its effects. */
    default <R extends @Nullable Object> R call(Function<? super LocalPermits, R> event) {
        mutex().lock();
        try {
            try {
                return event.apply(local());
            } finally {
                carryOut();
            }
        } finally {
            mutex().unlock();
        }
    }

    /** As {@link #call}, for what returns nothing. */
    default void run(Consumer<? super LocalPermits> event) {
        this.<@Nullable Void>call(permits -> {
            event.accept(permits);
            return null;
        });
    }

    /**
     * Carries out the effects of an event, with the mutex held. The result completes as {@link #confirmed} does if
     * permits were given back, or the pool was enlarged or reduced; else it is complete.
     */
    CompletableFuture<Void> carryOut();

    /**
     * Completes when Redis has answered a command that says all that was said until now: so it is known which permits
     * are the session's. Fails by what no repeat mends. Called with the mutex held.
     */
    CompletableFuture<Void> confirmed();

    /** The session is closed: fails all waits, and gives everything back. Doing that twice does no harm. */
    CompletableFuture<?> close();

    /** Returns what {@code toString()} of a semaphore says of the pool: {@code Permits = 5}. */
    @Override
    String toString();
}
