package dev.interlock.internal.semaphore;

import dev.interlock.internal.session.Resource;
import java.util.concurrent.CompletableFuture;

/**
 * The remote half of a semaphore: the pool of permits that all JVMs share. It owns what the session knows of both
 * halves, the {@link LocalPermits}: each event changes them, and their effects are carried out then.
 *
 * <p>Futures may be completed in an event; a thread that waits for one isn't in any.
 */
public interface RemoteSemaphore {

    /** Makes the remote half of a local half. */
    interface Factory {
        /** Makes the remote half. */
        RemoteSemaphore create(LocalSemaphore local);
    }

    /** Returns how many permits there are in all, as was stated or was last heard; 0 if that isn't known. */
    int permits();

    /** Returns that in whose events the permits of the session change. */
    Resource<LocalPermits> resource();

    /**
     * Carries out the effects of an event before that is over. The result completes as {@link #confirmed} does if
     * permits were given back, or the pool was enlarged or reduced; else it is complete.
     */
    CompletableFuture<Void> told();

    /**
     * Completes when Redis has answered a command that says all that was said until now: so it is known which permits
     * are the session's. Fails by what no repeat mends. Called in an event.
     */
    CompletableFuture<Void> confirmed();

    /** The session is closed: fails all waits, and gives everything back. Doing that twice does no harm. */
    CompletableFuture<?> close();

    /** Returns what {@code toString()} of a semaphore says of the pool: {@code Permits = 5}. */
    @Override
    String toString();
}
