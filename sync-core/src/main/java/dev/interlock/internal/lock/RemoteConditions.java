package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import java.util.Collection;

/** The remote half of the conditions of a lock. */
public interface RemoteConditions {
    /** How a thread's wait ended. */
    enum Outcome {
        SIGNALLED,
        TIMED_OUT,
        INTERRUPTED
    }

    /** A thread's wait, from when it is about to give the lock up until it has it back. */
    interface Wait {}

    /**
     * Has the current thread, which has entered and is about to leave, wait for a condition.
     *
     * @throws LeaseLostException if what was entered is lost
     */
    Wait enlist(String condition);

    /** Leaves, as {@link RemoteLock#leave} does, without anything to complete. The local half is freed next. */
    void leave(Wait wait);

    /** Gives up what no thread of this session wants any more. Called when the local half is free. */
    void left();

    /**
     * Sleeps until the wait is over.
     *
     * @param deadlineNanos a reading of the ticker; no deadline if it isn't timed
     */
    Outcome sleep(Wait wait, boolean interruptible, boolean timed, long deadlineNanos);

    /**
     * Called before the local half is taken again: waiters come back to it in the order in which they were done with
     * waiting.
     */
    void lineUp(Wait wait);

    /**
     * Enters again with the lease it had, for as long as that takes. The caller has the local half, and keeps it even
     * if this fails. Returns whether the session had a tenure, so that Redis wasn't asked.
     */
    boolean enter(Wait wait);

    /** Signals the thread that has waited longest, or all, as soon as the current one leaves. */
    void signal(String condition, boolean all);

    /** Returns how many threads of all sessions wait. */
    int count(String condition);

    /** Returns the threads of this session among those that {@link #count} counts. */
    Collection<Thread> threads(String condition);
}
