package dev.interlock.internal.latch;

/** A step that the owner of a {@link LatchState} takes after an event. */
public enum LatchEffect {
    /** Redis is told of the state. */
    TELL,
    /** The latch is open or lost: the local half is opened. */
    OPEN
}
