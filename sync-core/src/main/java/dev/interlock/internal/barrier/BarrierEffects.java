package dev.interlock.internal.barrier;

/** What an event has the owner of a {@link BarrierState} do. */
final class BarrierEffects {
    static final long NEVER = -1;

    /** Whether Redis is told of the state. */
    boolean tells;

    /** Whether the session is no member any more, and won't be one again. */
    boolean ended;

    /** After how long Redis is asked, rather than with the next pulse. */
    long askMillis = NEVER;
}
