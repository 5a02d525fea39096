package dev.interlock.testing;

/**
 * Where a synchronizer may differ from the JDK class whose contract it keeps. A test touched by one asserts the
 * difference instead, or leaves out what can't be had.
 */
public enum Deviation {
    /** {@code newCondition()} throws an {@link UnsupportedOperationException} that gives the reason. */
    NO_CONDITIONS,
    /**
     * A signal reaches waiters of other sessions when the signaller leaves, or a second later. A waiter that is
     * interrupted before that leaves, and the signal goes to the next one.
     */
    SIGNAL_TRAVELS_WITH_RELEASE,
    /** Writing it, or a view of it, to an object stream throws an {@link java.io.ObjectStreamException}. */
    NOT_SERIALIZABLE,
    /** {@code toString()}, also of views, tells the state in the JDK's words, but isn't the JDK's to the letter. */
    TO_STRING_DIFFERS,
    /** {@code toString()} of a latch tells the count that was last heard of. */
    TO_STRING_LAGS,
    /** {@code toString()} of a semaphore doesn't tell how many permits there are. */
    TO_STRING_TELLS_NO_PERMITS,
    /** Threads that wait for another session may be missing in {@code hasQueuedThread(s)} and its kin. */
    REMOTE_WAITER_NOT_QUEUED,
    /** A fair one is fair to the threads of one session, in any order to those of several. */
    NO_FIFO_ACROSS_SESSIONS,
    /**
     * {@code tryLock()} may fail because of waiters of other sessions, or on a fair lock that was released to a waiter.
     */
    TRYLOCK_MAY_NOT_BARGE,
    /** A reader that comes doesn't wait for a writer of another session that waits. */
    READERS_OVERTAKE_REMOTE_WRITER,
    /** Another session's {@code tryLock()} may fail for a short while after {@code unlock()}. */
    RELEASE_LINGERS,
    /** After a storm of interrupts and timeouts from two sessions, waiters may be stuck for minutes. */
    STUCK_AFTER_STORM,
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
