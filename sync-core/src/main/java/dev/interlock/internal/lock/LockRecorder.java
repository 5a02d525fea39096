package dev.interlock.internal.lock;

import dev.interlock.internal.events.FlightEvents;
import dev.interlock.internal.events.LockHold;
import dev.interlock.internal.events.LockWait;
import java.util.function.LongSupplier;

/** Has a flight recording know how threads take a lock. */
final class LockRecorder {
    /** How a thread takes a lock. */
    interface Attempt {
        /**
         * Returns whether it has taken it.
         *
         * @param wait is told if the thread has to ask Redis
         */
        boolean run(LockWait wait) throws InterruptedException;
    }

    private final RemoteLock remote;
    private final String kind;
    private final LongSupplier token;

    /**
     * Creates what records the acquisitions of a lock.
     *
     * @param token gives that of the current thread, which has acquired it
     */
    LockRecorder(RemoteLock remote, String kind, LongSupplier token) {
        this.remote = remote;
        this.kind = kind;
        this.token = token;
    }

    /** Returns whether a recording wants to know. As long as there is none, this costs nothing. */
    static boolean isOn() {
        return FlightEvents.areLocksRecorded();
    }

    /** Makes an attempt, and records it. */
    boolean record(Attempt attempt) throws InterruptedException {
        LockWait wait = new LockWait(remote.name(), kind, remote.sessionId());
        wait.begin();
        try {
            boolean acquired = attempt.run(wait);
            if (acquired) {
                wait.acquired(token.getAsLong());
            } else {
                wait.refused();
            }
            return acquired;
        } catch (InterruptedException e) {
            wait.interrupted();
            throw e;
        } finally {
            wait.commit();
        }
    }

    /** Begins to record a hold of the current thread, which has acquired it. */
    LockHold hold() {
        LockHold hold = new LockHold(remote.name(), kind, remote.sessionId(), token.getAsLong());
        hold.begin();
        return hold;
    }
}
