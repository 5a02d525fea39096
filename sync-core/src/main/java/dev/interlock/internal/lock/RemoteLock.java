package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The remote half of a lock: which session owns the name. The threads of a session have sorted out among themselves who
 * calls: {@link #enter}, {@link #leave}, {@link #fencingToken} and {@link #assertValid} are called only by the thread that
 * has the local half.
 */
public interface RemoteLock {
    /** The lease that a session's lease keeper renews, as opposed to one of a fixed length. */
    long RENEWED = 0;

    /** What is left of a departure once the local half is free. */
    interface Departure {
        /** Waits for the confirmation, one command time-out at most; throws {@link LeaseLostException} if it was lost. */
        void complete();
    }

    /** Returns the name, without namespace. */
    String name();

    /** Returns the ticker's reading, in nanoseconds. */
    long now();

    /** Returns the ticker's reading if anybody wants to know how long threads wait, else any number. */
    long start();

    /**
     * Gets a thread that is about to queue for the local half of a fair lock its place in the queue of all sessions.
     *
     * @param leaseMillis as it will be wanted
     */
    default void announce(long leaseMillis) {}

    /**
     * Enters on the tenure that the session has, if it has one that is usable: the path without a round trip.
     *
     * @param start what {@link #start} returned when the thread began to wait
     */
    boolean enterAtOnce(long start);

    /**
     * Gets the session a tenure and enters on it.
     *
     * @param interruptible whether an interrupt ends the wait, or is kept for later
     * @param waitNanos 0 to ask only once, {@link Long#MAX_VALUE} to wait for ever
     * @param leaseMillis {@link #RENEWED}, or the length of a fixed lease
     * @param start what {@link #start} returned when the thread began to wait
     * @return whether the thread has entered
     */
    boolean enter(boolean interruptible, long waitNanos, long leaseMillis, long start) throws InterruptedException;

    /** Leaves: keeps the tenure for the next local thread and returns null, or gives it up. The local half is freed next. */
    @Nullable
    Departure leave();

    /**
     * Gives up whatever nobody of this session wants any more. Called by whoever leaves, without the local half, after
     * the local half was released or could not be had.
     */
    void tidy();

    /** Returns the token of the acquisition that is entered. */
    long fencingToken();

    /** Throws {@link LeaseLostException} unless what was entered is still valid. */
    void assertValid();

    /** Returns whether the thread that has the local half has not entered: it waits for the remote half, or only clears up. */
    boolean isWaiting();

    /** Asks Redis whether anybody owns the name. */
    boolean isLocked();

    /** Adds a listener; the result removes it. */
    Runnable onLost(Consumer<? super LeaseLostException> listener);
}
