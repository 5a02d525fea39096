package dev.interlock.internal.lock;

import dev.interlock.SyncListener;
import dev.interlock.SyncListener.Outcome;
import dev.interlock.internal.events.FlightEvents;
import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.events.LockHold;
import dev.interlock.internal.events.LockWait;
import org.jspecify.annotations.Nullable;

/** Has flight recordings and listeners know how threads take a lock, and recordings for how long they hold it. */
final class LockRecorder {
    /** How a thread takes a lock. */
    interface Acquisition {
        /**
         * Returns whether it has taken it.
         *
         * @param attempt is told if the thread has to wait
         */
        boolean run(Attempt attempt) throws InterruptedException;
    }

    private final RemoteLock remote;
    private final boolean isShared;
    private final Listeners listeners;

    /**
     * Creates what records the acquisitions of a lock.
     *
     * @param isShared whether it is that of readers, whose acquisitions have no tokens
     */
    LockRecorder(RemoteLock remote, boolean isShared) {
        this.remote = remote;
        this.isShared = isShared;
        this.listeners = remote.listeners();
    }

    private String kind() {
        return isShared ? "read lock" : remote.kind();
    }

    // That of the current thread, which has acquired the lock.
    private long token() {
        return isShared ? 0 : remote.knownToken();
    }

    /** Returns whether a recording or a listener wants to know. As long as there is none, this costs nothing. */
    boolean isOn() {
        return listeners.current() != SyncListener.NONE || FlightEvents.areLocksRecorded();
    }

    /** Returns whether a flight recording wants to know. */
    static boolean isInFlight() {
        return FlightEvents.areLocksRecorded();
    }

    /** Makes an attempt, and records it. */
    boolean record(Acquisition acquisition) throws InterruptedException {
        LockWait event = null;
        if (FlightEvents.areLocksRecorded()) {
            event = new LockWait(remote.name(), kind(), remote.sessionId());
            event.begin();
        }
        Attempt attempt = new Attempt(remote, kind(), listeners.current(), event);
        Outcome outcome = Outcome.FAILED;
        try {
            boolean acquired = acquisition.run(attempt);
            outcome = acquired ? Outcome.ACQUIRED : Outcome.TIMEOUT;
            return acquired;
        } catch (InterruptedException e) {
            outcome = Outcome.INTERRUPTED;
            throw e;
        } finally {
            attempt.end(outcome, event != null && outcome == Outcome.ACQUIRED ? token() : 0);
        }
    }

    /** Tells listeners, though no attempt is recorded, that the current thread has acquired the lock. */
    void tellAcquired(long waitedNanos, boolean local) {
        SyncListener told = listeners.ofAcquisitions();
        if (told != SyncListener.NONE) {
            told.acquired(remote.name(), waitedNanos, local);
        }
    }

    /** Begins to record a hold of the current thread, which has acquired the lock; null if nobody does. */
    @Nullable
    LockHold hold() {
        if (!FlightEvents.areLocksRecorded()) {
            return null;
        }
        LockHold hold = new LockHold(remote.name(), kind(), remote.sessionId(), token());
        hold.begin();
        return hold;
    }

    /**
     * A thread's attempt to take a lock that somebody wants to know of. The clock is read only once the thread has to
     * wait: threads of one JVM hand a lock on several million times a second.
     */
    static final class Attempt {
        private final RemoteLock remote;
        private final String kind;
        private final SyncListener listener;
        private final @Nullable LockWait event;

        private boolean waits;
        private boolean asksRedis;
        private long begunNanos;

        Attempt(RemoteLock remote, String kind, SyncListener listener, @Nullable LockWait event) {
            this.remote = remote;
            this.kind = kind;
            this.listener = listener;
            this.event = event;
        }

        /** The thread has to wait, for others of its JVM or for Redis. */
        void begin() {
            if (!waits) {
                waits = true;
                begunNanos = remote.now();
                listener.waiting(remote.name(), kind);
            }
        }

        /** The session has no tenure that the thread could enter on. */
        void askRedis() {
            begin();
            asksRedis = true;
            if (event != null) {
                event.asksRedis();
            }
        }

        /**
         * The attempt is over.
         *
         * @param token that of the acquisition, or 0
         */
        void end(Outcome outcome, long token) {
            if (outcome != Outcome.ACQUIRED) {
                begin();
            }
            long waitedNanos = waits ? remote.now() - begunNanos : 0;
            if (waits) {
                listener.waited(remote.name(), kind, outcome, !asksRedis, waitedNanos);
            }
            if (outcome == Outcome.ACQUIRED) {
                remote.listeners().ofAcquisitions().acquired(remote.name(), waitedNanos, !asksRedis);
            }
            if (event != null) {
                event.ended(outcome, token);
            }
        }
    }
}
