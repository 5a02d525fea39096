package dev.interlock.internal.semaphore;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.interlock.internal.semaphore.Operations.Operation;

/**
 * The permits that all JVMs share, as a session's {@link LocalPermits} see them: what is known of the pool, and what it
 * is told. All methods are called with the semaphore's mutex held, and none blocks.
 */
public interface Pool {
    /**
     * Gives back permits that the session was granted, and no thread has any more.
     *
     * @return the sum of all that was given back by then, by which Redis confirms it
     */
    @CanIgnoreReturnValue
    long giveBack(int permits);

    /**
     * The session wants so many more permits than it has, or none. That replaces what it wanted before; all of them are
     * granted at once, or none.
     */
    void want(int permits);

    /** Enlarges the pool, or reduces it if negative: then there may be less than none in it. */
    void add(int permits);

    /** Returns whether the pool can change by so many permits and still have an {@code int}, as far as is known. */
    boolean fits(long change);

    /** Gives permits up for lost if their lease is over, and Redis hasn't renewed it. */
    void endLease(long nowNanos);

    /** Has an operation done. */
    void operate(Operation operation);

    /** Returns whether what was granted is certainly still the session's. */
    boolean isValid(long nowNanos);

    /** Returns whether other sessions wait for permits, or may do so. */
    boolean isContended();

    /** Returns whether the pool had so many permits, as far as is known. */
    boolean mayHave(int permits);

    /** Returns whether the pool is known to have less than no permits, so that all that is released goes to it. */
    boolean isOverdrawn();
}
