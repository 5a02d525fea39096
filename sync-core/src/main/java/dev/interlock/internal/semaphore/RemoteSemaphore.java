package dev.interlock.internal.semaphore;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The remote half of a semaphore: the pool of permits that all JVMs share. Permits that the session was granted and has
 * not given back are handled by its {@link Recipient}: threads have them, or they are on their way to one.
 *
 * <p>All methods but {@link #mutex}, {@link #name}, {@link #isOwned} and {@link #permits} are called under the mutex,
 * none of them blocks, and the recipient is called under the mutex. Futures may be completed under the mutex, too; a
 * thread that waits for one doesn't hold the mutex.
 */
public interface RemoteSemaphore {

    /** The local half, as the remote half sees it. */
    interface Recipient {
        /** So many more permits, 1 at least, were granted because the session wants them. */
        void granted(int permits);

        /**
         * The session has lost all permits that it was granted. Called only if permits are owned.
         *
         * @param reason what was seen, for people
         */
        void lost(String reason);

        /**
         * Threads that wait now can't be served: the session is closed, Redis has been silent for too long or refuses.
         *
         * @param failure makes what each of them throws
         */
        void failed(Supplier<? extends RuntimeException> failure);

        /** Returns whether threads wait for permits. */
        boolean isWaiting();

        /** Returns whether threads have permits that belong to them, or have lost some and don't know it yet. */
        boolean isHeld();
    }

    /** Makes the remote half of a local half. */
    interface Factory {
        /** Makes the remote half. */
        RemoteSemaphore create(Recipient local);
    }

    /** Returns the mutex of both halves. */
    ReentrantLock mutex();

    /** Returns the name, without the session's namespace. */
    String name();

    /** Returns whether permits belong to the session that was granted them, and return to the pool when it dies. */
    boolean isOwned();

    /** Returns how many permits there are in all, as was stated or was last heard; 0 if that isn't known. */
    int permits();

    /**
     * Makes sure that Redis agrees to what is stated of this semaphore. Fails by {@link IllegalArgumentException} if it
     * doesn't.
     */
    CompletableFuture<Void> join();

    /**
     * Gives permits back to the pool, and says how many more the session wants than it then has. That replaces what it
     * wanted before; all of them are granted at once, or none.
     *
     * @param back 0 or more, and not more than the session has
     * @param wanted 0 if it wants none
     * @return completes as {@link #confirmed} does, or at once if that was said already
     */
    CompletableFuture<Void> tell(int back, int wanted);

    /**
     * Enlarges the pool, or reduces it if negative: then there may be less than none in it. The result completes as
     * that of {@link #confirmed} does.
     *
     * @throws Error if it is known that the number of permits would be no {@code int} then; nothing is changed
     */
    CompletableFuture<Void> add(int permits);

    /**
     * Completes when Redis has answered a command that says all that was said until now: so it is known which permits
     * are the session's. Fails by what no repeat mends.
     */
    CompletableFuture<Void> confirmed();

    /**
     * Takes permits if the pool has them now, even if others wait for them. They are the session's then; the recipient
     * isn't told. The result is negative if the pool hasn't. One that is cancelled before it is there gives permits
     * back.
     */
    CompletableFuture<Integer> take(int permits);

    /**
     * Takes all permits that the pool has; as {@link #take}. Less than none become none, and then the result is
     * negative, and nothing is the session's.
     */
    CompletableFuture<Integer> drain();

    /**
     * Returns how many permits the pool has, without those that are the session's. It has less than none after a
     * reduction.
     */
    CompletableFuture<Integer> available();

    /**
     * Changes how many permits there are in all, and so those in the pool by the difference. Fails by
     * {@link UnsupportedOperationException} if nothing is known of how many there are.
     */
    CompletableFuture<Void> resize(int permits);

    /** Returns whether what was granted is certainly still the session's. */
    boolean isValid();

    /** Returns whether other sessions wait for permits, or may do so. */
    boolean isContended();

    /** Returns whether the pool is known to have less than no permits, so that all that is released goes to it. */
    boolean isOverdrawn();

    /** The session is closed: fails all waits, and gives everything back. Doing that twice does no harm. */
    CompletableFuture<?> close();

    /** Returns what {@code toString()} of a semaphore says of the pool: {@code Permits = 5}. */
    @Override
    String toString();
}
