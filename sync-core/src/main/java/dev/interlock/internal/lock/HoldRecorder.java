package dev.interlock.internal.lock;

import dev.interlock.SyncListener;
import dev.interlock.SyncListener.Outcome;
import dev.interlock.internal.events.FlightEvents;
import dev.interlock.internal.events.LockHold;
import dev.interlock.internal.events.LockWait;
import dev.interlock.internal.session.Session;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Has listeners and flight recordings know of the holds of one name, which no thread owns. */
public final class HoldRecorder {
    private final Session session;
    private final String name;
    private final String kind;
    private final Consumer<Runnable> later;

    /**
     * Creates it.
     *
     * @param later runs what may take its time, after what it was given before
     */
    public HoldRecorder(Session session, String name, String kind, Consumer<Runnable> later) {
        this.session = session;
        this.name = name;
        this.kind = kind;
        this.later = later;
    }

    private SyncListener listener() {
        return session.settings().listener();
    }

    private SyncListener ofAcquisitions() {
        return session.settings().listeners().ofAcquisitions();
    }

    private boolean isOn() {
        return listener() != SyncListener.NONE || FlightEvents.areLocksRecorded();
    }

    private void tell(Runnable news) {
        later.accept(() -> session.tell(news));
    }

    /** The hold goes to the next request without the session giving the name up. */
    public void handedOff() {
        SyncListener told = ofAcquisitions();
        if (told != SyncListener.NONE) {
            tell(() -> told.handedOff(name));
        }
    }

    /** The session gives the name up, which it has owned for so long. */
    public void released(long tenureNanos) {
        SyncListener told = ofAcquisitions();
        if (told != SyncListener.NONE) {
            tell(() -> told.released(name, tenureNanos));
        }
    }

    /** A request is made. Returns null if nobody wants to know. */
    public @Nullable Request request() {
        return isOn() ? new Request() : null;
    }

    /** A request of which somebody wants to know. */
    public final class Request {
        private final SyncListener listener = listener();
        private final long begunNanos = session.now();
        private final @Nullable LockWait event =
                FlightEvents.areLocksRecorded() ? new LockWait(name, kind, session.id()) : null;
        private boolean waits;
        private boolean asksRedis;

        private Request() {
            if (event != null) {
                event.begin();
            }
        }

        /** It isn't over at once. */
        public void begin() {
            waits = true;
            tell(() -> listener.waiting(name, kind));
        }

        /** The session has no tenure on which it could be granted. */
        public void asksRedis() {
            asksRedis = true;
            if (event != null) {
                event.asksRedis();
            }
        }

        /**
         * It is over.
         *
         * @param token of what was granted, or 0
         */
        public void end(Outcome outcome, long token) {
            long waitedNanos = waits ? session.now() - begunNanos : 0;
            tell(() -> {
                if (waits) {
                    listener.waited(name, kind, outcome, !asksRedis, waitedNanos);
                }
                if (outcome == Outcome.ACQUIRED) {
                    ofAcquisitions().acquired(name, waitedNanos, !asksRedis);
                }
                if (event != null) {
                    event.ended(outcome, token);
                }
            });
        }
    }

    /** A hold begins. Returns what ends it, null if nobody wants to know. */
    public @Nullable Runnable hold(long token) {
        if (!isOn()) {
            return null;
        }
        long begunNanos = session.now();
        LockHold event = FlightEvents.areLocksRecorded() ? new LockHold(name, kind, session.id(), token) : null;
        if (event != null) {
            event.begin();
        }
        return () -> {
            long heldNanos = session.now() - begunNanos;
            tell(() -> {
                listener().held(name, 1, heldNanos);
                if (event != null) {
                    event.commit();
                }
            });
        };
    }
}
