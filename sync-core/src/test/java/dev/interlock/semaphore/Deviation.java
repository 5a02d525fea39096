package dev.interlock.semaphore;

/**
 * Where a semaphore may differ from {@link java.util.concurrent.Semaphore}. A test touched by one asserts the
 * difference instead, or leaves out what can't be had.
 */
enum Deviation {
    /** Writing the semaphore to an object stream throws an {@link java.io.ObjectStreamException}. */
    NOT_SERIALIZABLE,
    /** {@code toString()} tells the state in the JDK's words, but isn't the JDK's to the letter. */
    TO_STRING_DIFFERS,
    /** {@code toString()} doesn't tell how many permits there are. */
    TO_STRING_TELLS_NO_PERMITS,
    /** Waiting threads of one session enter in their order, those of several in any. */
    NO_FIFO_ACROSS_SESSIONS,
    /** {@code acquire} waits behind a larger request that waits already, though there are permits enough for it. */
    SMALL_WAITS_BEHIND_LARGE,
    /** The same, but only behind those of its own session; others overtake it. */
    SMALL_WAITS_BEHIND_LARGE_OF_ITS_SESSION,
    /** A request for no permits never waits, though there be fewer than none. */
    NOTHING_IS_ALWAYS_THERE,
    /** The number of permits may grow beyond the greatest {@code int}, or below the smallest, unnoticed. */
    COUNT_UNCHECKED,
    /** What a waiter was given that leaves at that moment may be missing for a short while. */
    RETURN_LINGERS,
    /**
     * What a waiter wanted that has left, or was served by another thread, may be missing for a moment when it comes.
     */
    REQUEST_LINGERS
}
