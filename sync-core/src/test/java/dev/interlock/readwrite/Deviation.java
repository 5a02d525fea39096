package dev.interlock.readwrite;

import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Where a lock may differ from {@link ReentrantReadWriteLock}. A test touched by one asserts the difference instead, or
 * leaves out what can't be had.
 */
enum Deviation {
    /**
     * The write lock's {@code newCondition()} throws an {@link UnsupportedOperationException} that gives the reason.
     */
    NO_CONDITIONS,
    /**
     * A signal reaches waiters of other sessions when the signaller leaves, or a second later. A waiter that is
     * interrupted before that leaves, and the signal goes to the next one.
     */
    SIGNAL_TRAVELS_WITH_RELEASE,
    /** Writing the lock or one of its views to an object stream throws an {@link java.io.ObjectStreamException}. */
    NOT_SERIALIZABLE,
    /** {@code toString()}, also of the views, tells the state in the JDK's words, but isn't the JDK's to the letter. */
    TO_STRING_DIFFERS,
    /** Threads that wait for another session may be missing in {@code hasQueuedThread(s)} and its kin. */
    REMOTE_WAITER_NOT_QUEUED,
    /** A fair lock is fair to the threads of one session, in any order to those of several. */
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
    STUCK_AFTER_STORM
}
