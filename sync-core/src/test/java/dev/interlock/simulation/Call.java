package dev.interlock.simulation;

import static dev.interlock.simulation.Kind.FAIR_LOCK;
import static dev.interlock.simulation.Kind.PLAIN_LOCK;
import static dev.interlock.simulation.Kind.RETAINED_LOCK;

import java.util.Set;

/** What a thread calls: a method, with what belongs to it, such as the {@code unlock()} behind a {@code lock()}. */
enum Call {
    LOCK(Kinds.LOCKS),
    LOCK_INTERRUPTIBLY(Kinds.LOCKS),
    LOCK_WITH_LEASE(Kinds.LOCKS),
    LOCK_TWICE(Kinds.LOCKS),
    TRY_LOCK(Kinds.LOCKS),
    TRY_LOCK_TIMED(Kinds.LOCKS),
    /** Adds an item and signals. */
    PUT(Kinds.LOCKS),
    /** Adds an item and signals all. */
    PUT_TO_ALL(Kinds.LOCKS),
    /** Waits for an item and takes it. */
    TAKE(Kinds.LOCKS),
    /** Waits for an item for a while; without one, adds one and signals. */
    TAKE_OR_PUT(Kinds.LOCKS);

    private static final class Kinds {
        static final Set<Kind> LOCKS = Set.of(PLAIN_LOCK, FAIR_LOCK, RETAINED_LOCK);
    }

    private final Set<Kind> kinds;

    Call(Set<Kind> kinds) {
        this.kinds = kinds;
    }

    /** Returns what it is a method of. */
    Set<Kind> kinds() {
        return kinds;
    }
}
