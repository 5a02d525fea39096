package dev.interlock.internal.latch;

/** What an event has the owner of a {@link LatchState} do. */
enum LatchEffect {
    /** Redis is told of the state. */
    TELL,
    /** The latch is open or lost: the local half is opened. */
    OPEN
}
