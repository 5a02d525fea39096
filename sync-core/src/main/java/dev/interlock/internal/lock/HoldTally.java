package dev.interlock.internal.lock;

import dev.interlock.SyncListener;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Session;

/**
 * The holds of a lock of which listeners are told: together, where many follow each other, since of each by itself the
 * adders of a listener alone would take a tenth of the time that a hand-off takes. Used by the thread that has the
 * local half, and drained by the one that closes the tenure.
 */
final class HoldTally {
    /** How long after a telling the next one may come. */
    private static final long TELLING_NANOS = 1_000_000;

    private static final long UNKNOWN = Long.MIN_VALUE;

    private final Session session;
    private final Settings settings;
    private final String name;

    private long enteredNanos = UNKNOWN;
    private long toldNanos;

    /** What is yet to be told. */
    private long holds;

    private long heldNanos;

    HoldTally(Session session, String name) {
        this.session = session;
        this.settings = session.settings();
        this.name = name;
        this.toldNanos = session.now() - TELLING_NANOS;
    }

    /** A thread has entered, or is about to find that it may not. */
    void begin(long now) {
        enteredNanos = now;
    }

    /** The thread is about to leave. */
    void end(long now) {
        if (settings.listener() != SyncListener.NONE && enteredNanos != UNKNOWN) {
            holds++;
            heldNanos += now - enteredNanos;
            if (now - toldNanos >= TELLING_NANOS) {
                toldNanos = now;
                drain().run();
            }
        }
        enteredNanos = UNKNOWN;
    }

    /** Returns what tells what is yet to be told. */
    Runnable drain() {
        long told = holds;
        long nanos = heldNanos;
        holds = 0;
        heldNanos = 0;
        return () -> {
            if (told > 0) {
                session.tell(() -> settings.listener().held(name, told, nanos));
            }
        };
    }
}
