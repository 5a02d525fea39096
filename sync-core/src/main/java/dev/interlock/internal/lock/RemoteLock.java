package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.events.Listeners;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a lock: which session owns the name. The threads of a session have sorted out among themselves who
 * calls: {@link #enter}, {@link #leave}, {@link #fencingToken} and {@link #assertValid} are called only by the thread
 * that has the local half.
 */
public interface RemoteLock {
    /** The lease that a session's lease renewer renews, as opposed to one of a fixed length. */
    long RENEWED = 0;

    /** What is left of a departure once the local half is free. */
    interface Departure {
        /**
         * Waits for the confirmation, one command time-out at most; throws {@link LeaseLostException} if it was lost.
         */
        void complete();
    }

    /**
     * Returns the conditions of this lock, or throws an {@link UnsupportedOperationException} that says why it has
     * none.
     */
    RemoteConditions conditions();

    /** Returns the name, without namespace. */
    String name();

    /** Returns what kind of lock it is, for people. */
    String kind();

    /** Returns the id of the session. */
    String sessionId();

    /** Returns the listeners of the session. */
    Listeners listeners();

    /** Returns the ticker's reading, in nanoseconds. */
    long now();

    /** Throws {@link IllegalStateException} if the session is closed, or about to be. */
    void ensureAcquiring();

    /**
     * Begins a thread's attempt to lock. Throws {@link IllegalStateException} if the session is closed, or about to be,
     * unless the thread has the local half.
     */
    void beginAttempt();

    /**
     * Gets a thread that is about to queue for the local half its place in the queue of all sessions, if that is its
     * own.
     *
     * @param leaseMillis as it will be wanted
     */
    default void announce(long leaseMillis) {}

    /** Enters on the tenure that the session has, if it has one that is usable: the path without a round trip. */
    boolean enterAtOnce();

    /**
     * Gets the session a tenure and enters on it.
     *
     * @param interruptible whether an interrupt ends the wait, or is kept for later
     * @param waitNanos 0 to ask only once, {@link Long#MAX_VALUE} to wait for ever
     * @param leaseMillis {@link #RENEWED}, or the length of a fixed lease
     * @return whether the thread has entered
     */
    boolean enter(boolean interruptible, long waitNanos, long leaseMillis) throws InterruptedException;

    /** The thread that has both halves is about to give them up: listeners are told, if there are any. */
    void endHold(long now);

    /**
     * Leaves: keeps the tenure for the next local thread, or gives it up. Returns null if there is nothing to wait for.
     * The local half is freed next.
     *
     * @param now the ticker's reading
     */
    @Nullable
    Departure leave(long now);

    /**
     * Gives up what no thread of this session wants any more. Called without the local half, after that was freed or
     * could not be had.
     */
    void cleanUp();

    /** Returns the token of the acquisition that is entered; throws what {@link #assertValid} does. */
    long fencingToken();

    /** Returns the same token, also of a tenure that is lost; 0 if there is none, or only Redis knows it. */
    long knownToken();

    /**
     * Throws {@link LeaseLostException} unless what was entered is still valid. If that is in doubt, Redis is asked; a
     * {@link dev.interlock.RedisUnavailableException} says that it doesn't answer.
     */
    void assertValid();

    /**
     * Returns whether the thread that has the local half is not inside, if there is one: it waits for the remote half,
     * or has left and is about to free the local half.
     */
    boolean isWaiting();

    /** Asks Redis whether anybody owns the name. */
    boolean isLocked();

    /** Adds a listener; the result removes it. */
    Runnable onLost(Consumer<? super LeaseLostException> listener);
}
