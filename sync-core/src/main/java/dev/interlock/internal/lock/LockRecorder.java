package dev.interlock.internal.lock;

import dev.interlock.SyncListener;
import dev.interlock.SyncListener.Outcome;
import dev.interlock.internal.events.FlightEvents;
import dev.interlock.internal.events.LockHold;
import dev.interlock.internal.events.LockWait;
import dev.interlock.internal.session.RemoteWait;
import org.jspecify.annotations.Nullable;

/**
 * Has flight recordings and listeners know how threads take a lock, and recordings for how long they hold it.
 *
 * @param isShared whether it is the lock of readers, whose acquisitions have no tokens
 */
record LockRecorder(RemoteLock remote, boolean isShared) {
    /** How a thread takes a lock. */
    interface RecordedAcquisition {
        /**
         * Returns whether it has taken it.
         *
         * @param attempt is told if the thread has to wait
         */
        boolean run(Attempt attempt) throws InterruptedException;
    }

    private String kind() {
        return isShared ? "read lock" : remote.kind();
    }

    // That of the current thread, which has acquired the lock.
    private long token() {
        return isShared ? 0 : remote.knownToken();
    }

    /** Returns whether a recording or a listener wants to know. As long as there is none, this costs nothing. */
    static boolean isOn(RemoteLock remote) {
        return remote.listeners().current() != SyncListener.NONE || FlightEvents.areLocksRecorded();
    }

    /** Returns whether a flight recording wants to know. */
    static boolean isInFlight() {
        return FlightEvents.areLocksRecorded();
    }

    /** Makes an attempt, and records it. */
    boolean record(RecordedAcquisition acquisition) throws InterruptedException {
        Attempt attempt = new Attempt();
        return RemoteWait.observe(() -> acquisition.run(attempt), attempt::end);
    }

    /** Tells listeners, though no attempt is recorded, that the current thread has acquired the lock. */
    static void tellAcquired(RemoteLock remote, long waitedNanos, boolean local) {
        SyncListener told = remote.listeners().ofAcquisitions();
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
    final class Attempt {
        private final SyncListener listener = remote.listeners().current();
        private final @Nullable LockWait event;

        private boolean waits;
        private boolean asksRedis;
        private long begunNanos;

        private Attempt() {
            event = FlightEvents.areLocksRecorded() ? new LockWait(remote.name(), kind(), remote.sessionId()) : null;
            if (event != null) {
                event.begin();
            }
        }

        /** The thread has to wait, for others of its JVM or for Redis. */
        void begin() {
            if (!waits) {
                waits = true;
                begunNanos = remote.now();
                listener.waiting(remote.name(), kind());
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

        private void end(Outcome outcome) {
            boolean acquired = outcome == Outcome.ACQUIRED;
            if (!acquired) {
                begin();
            }
            long waitedNanos = waits ? remote.now() - begunNanos : 0;
            if (waits) {
                listener.waited(remote.name(), kind(), outcome, !asksRedis, waitedNanos);
            }
            if (acquired) {
                remote.listeners().ofAcquisitions().acquired(remote.name(), waitedNanos, !asksRedis);
            }
            if (event != null) {
                event.ended(outcome, acquired ? token() : 0);
            }
        }
    }
}
