package dev.interlock.internal.semaphore;

import dev.interlock.LeaseLostException;
import org.jspecify.annotations.Nullable;

/** What an event has the owner of a semaphore's state do. */
final class SemaphoreEffects {
    static final long NEVER = -1;

    /** Permits that threads have are lost: listeners are told. */
    @Nullable
    LeaseLostException loss;

    /** Permits are lost that threads have released, which don't wait for Redis' confirmation any more. */
    @Nullable
    LeaseLostException unnoticed;

    /** Of how many permits that were added to the pool it will never be known whether they were counted. */
    long dropped;

    /** Whether the order of the waiters is looked at again a moment later. */
    boolean looksAgain;

    /** Whether Redis is told of the state. */
    boolean tells;

    /** Whether it is told even if it refuses. */
    boolean insists;

    /** After how long Redis is asked, rather than with the next pulse. */
    long askMillis = NEVER;
}
