package dev.interlock.simulation;

import static dev.interlock.simulation.Kind.BARRIER;
import static dev.interlock.simulation.Kind.FAIR_LOCK;
import static dev.interlock.simulation.Kind.FAIR_READ_WRITE_LOCK;
import static dev.interlock.simulation.Kind.FAIR_SEMAPHORE;
import static dev.interlock.simulation.Kind.LATCH;
import static dev.interlock.simulation.Kind.PLAIN_LOCK;
import static dev.interlock.simulation.Kind.QUORUM_LOCK;
import static dev.interlock.simulation.Kind.RATE_LIMITER;
import static dev.interlock.simulation.Kind.READ_WRITE_LOCK;
import static dev.interlock.simulation.Kind.RETAINED_LOCK;
import static dev.interlock.simulation.Kind.SEMAPHORE;

import java.util.Set;

/** What a thread calls: a method, with what belongs to it, such as the {@code unlock()} behind a {@code lock()}. */
@SuppressWarnings("ImmutableEnumChecker") // sets that can't be changed
enum Call {
    LOCK(Kinds.LOCKED),
    LOCK_INTERRUPTIBLY(Kinds.ALL_LOCKS),
    LOCK_WITH_LEASE(Kinds.WITH_LEASES),
    LOCK_TWICE(Kinds.ALL_LOCKS),
    /** Keeps it beyond its fixed lease; unlocks late, or ends and never does. */
    LOCK_AND_OUTSTAY(Kinds.WITH_LEASES),
    /** Keeps it when an operator has taken it away; unlocks late, or ends and never does. */
    LOCK_AND_LOSE(Kinds.WITH_CONDITIONS),
    /** Tries to enter once more when an operator has taken the lock away. */
    LOCK_WHAT_IS_LOST(Kinds.WITH_CONDITIONS),
    /** Tries to enter once more when its fixed lease is over. */
    LOCK_WHAT_IS_OVER(Kinds.WITH_LEASES),
    TRY_LOCK(Kinds.LOCKED),
    /** With a wait of zero, which queues for nothing but honours those that do. */
    TRY_LOCK_AT_ONCE(Kinds.ALL_LOCKS),
    TRY_LOCK_TIMED(Kinds.LOCKED),
    /** Adds an item and signals. */
    PUT(Kinds.WITH_CONDITIONS),
    /** Adds an item and signals all. */
    PUT_TO_ALL(Kinds.WITH_CONDITIONS),
    /** Waits for an item and takes it. */
    TAKE(Kinds.WITH_CONDITIONS),
    /** Waits for an item for a while; without one, adds one and signals. */
    TAKE_OR_PUT(Kinds.WITH_CONDITIONS),
    READ(Kinds.READ_WRITE),
    READ_INTERRUPTIBLY(Kinds.READ_WRITE),
    READ_TWICE(Kinds.READ_WRITE),
    /** Reads on when an operator has taken the lock away; unlocks late, or ends and never does. */
    READ_AND_LOSE(Kinds.READ_WRITE),
    /** Tries to read once more when an operator has taken the lock away. */
    READ_WHAT_IS_LOST(Kinds.READ_WRITE),
    TRY_READ(Kinds.READ_WRITE),
    TRY_READ_AT_ONCE(Kinds.READ_WRITE),
    TRY_READ_TIMED(Kinds.READ_WRITE),
    /** Tries to write while it reads, in vain. */
    TRY_UPGRADE(Kinds.READ_WRITE),
    /** Goes on reading when it has written. */
    DOWNGRADE(Kinds.READ_WRITE),
    /** Adds an item, signals, and goes on reading. */
    PUT_AND_READ(Kinds.READ_WRITE),
    /** Waits for an item with both locks, and goes on reading. */
    TAKE_AND_READ(Kinds.READ_WRITE),

    ACQUIRE(Kinds.SEMAPHORES),
    ACQUIRE_UNINTERRUPTIBLY(Kinds.SEMAPHORES),
    ACQUIRE_SEVERAL(Kinds.COUNTED),
    TRY_ACQUIRE(Kinds.SEMAPHORES),
    TRY_ACQUIRE_AT_ONCE(Kinds.COUNTED),
    TRY_ACQUIRE_TIMED(Kinds.COUNTED),
    DRAIN(Kinds.SEMAPHORES),
    COUNT_PERMITS(Kinds.SEMAPHORES),
    /** Adds permits, for those who wait for some that are gone for good. */
    ADD_PERMITS(Set.of()),
    /** Acquires all permits there are, when nobody else does. */
    ACQUIRE_ALL(Set.of()),

    COUNT_DOWN(Kinds.LATCHES),
    AWAIT(Kinds.LATCHES),
    AWAIT_TIMED(Kinds.LATCHES),
    GET_COUNT(Kinds.LATCHES),
    /** Counts down the latch of that number, for those who wait for it. */
    COUNT_DOWN_OF(Set.of()),
    /** Looks at the count when nobody counts down any more. */
    GET_LAST_COUNT(Set.of()),

    MEET(Kinds.BARRIERS),
    MEET_TIMED(Kinds.BARRIERS),
    RESET(Kinds.BARRIERS),
    COUNT_ARRIVED(Kinds.BARRIERS),

    ACQUIRE_RATE(Kinds.RATE_LIMITERS),
    TRY_RATE(Kinds.RATE_LIMITERS),
    TRY_RATE_TIMED(Kinds.RATE_LIMITERS),
    /** Tries to acquire permits of a limiter that takes them ahead. */
    TRY_PREFETCHED(Kinds.RATE_LIMITERS),
    /** Acquires permits of a limiter that takes them ahead. */
    ACQUIRE_PREFETCHED(Kinds.RATE_LIMITERS),
    /** Takes all that there can be at once, when nobody else has for a while. */
    TAKE_WHOLE_RATE(Set.of()),

    HOLD(Kinds.HOLDS),
    HOLD_WITH_LEASE(Kinds.HOLDS),
    /** Has another thread release it. */
    HOLD_AND_PASS(Kinds.HOLDS),
    TRY_HOLD(Kinds.HOLDS),
    TRY_HOLD_TIMED(Kinds.HOLDS),
    /** Cancels the request after a while, unless it is granted by then. */
    CANCEL_HOLD(Kinds.HOLDS),

    HOLD_PERMITS(Kinds.HELD_PERMITS),
    TRY_HOLD_PERMITS(Kinds.HELD_PERMITS),
    TRY_HOLD_PERMITS_TIMED(Kinds.HELD_PERMITS),
    /** Cancels the request after a while, unless it is granted by then. */
    CANCEL_PERMITS(Kinds.HELD_PERMITS),

    /** Stands for election for a while. */
    STAND(Kinds.ELECTIONS),
    /** Stands until it is elected, and leads for a while. */
    STAND_AND_LEAD(Kinds.ELECTIONS),
    STAND_AND_RESIGN(Kinds.ELECTIONS),
    /** Has work that returns. */
    STAND_AND_RETURN(Kinds.ELECTIONS),
    /** Has a listener that throws. */
    STAND_AND_THROW(Kinds.ELECTIONS);

    private static final class Kinds {
        static final Set<Kind> READ_WRITE = Set.of(READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK);
        static final Set<Kind> WITH_LEASES = Set.of(PLAIN_LOCK, FAIR_LOCK, RETAINED_LOCK, QUORUM_LOCK);
        static final Set<Kind> WITH_CONDITIONS =
                Set.of(PLAIN_LOCK, FAIR_LOCK, RETAINED_LOCK, READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK);
        static final Set<Kind> ALL_LOCKS =
                Set.of(PLAIN_LOCK, FAIR_LOCK, RETAINED_LOCK, READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK, QUORUM_LOCK);
        static final Set<Kind> LOCKED = Set.of(
                PLAIN_LOCK, FAIR_LOCK, RETAINED_LOCK, READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK, QUORUM_LOCK, Kind.HOLD);
        static final Set<Kind> HOLDS = Set.of(Kind.HOLD);
        static final Set<Kind> SEMAPHORES = Set.of(SEMAPHORE, FAIR_SEMAPHORE);
        static final Set<Kind> HELD_PERMITS = Set.of(Kind.HELD_PERMITS);
        static final Set<Kind> ELECTIONS = Set.of(Kind.ELECTION);
        static final Set<Kind> COUNTED = Set.of(SEMAPHORE, FAIR_SEMAPHORE, Kind.HELD_PERMITS);
        static final Set<Kind> LATCHES = Set.of(LATCH);
        static final Set<Kind> BARRIERS = Set.of(BARRIER);
        static final Set<Kind> RATE_LIMITERS = Set.of(RATE_LIMITER);
    }

    private final Set<Kind> kinds;

    Call(Set<Kind> kinds) {
        this.kinds = kinds;
    }

    /** Returns whether it takes a lease of fixed length. */
    boolean isLeased() {
        return this == LOCK_WITH_LEASE
                || this == HOLD_WITH_LEASE
                || this == LOCK_AND_OUTSTAY
                || this == LOCK_WHAT_IS_OVER;
    }

    /** Returns whether an operator takes away what the thread has. */
    boolean isTakenAway() {
        return this == LOCK_AND_LOSE || this == READ_AND_LOSE || this == LOCK_WHAT_IS_LOST || this == READ_WHAT_IS_LOST;
    }

    /** Returns whether the thread tries to enter once more when it has lost what it has. */
    boolean isRepeated() {
        return this == LOCK_WHAT_IS_OVER || this == LOCK_WHAT_IS_LOST || this == READ_WHAT_IS_LOST;
    }

    /** Returns whether the thread stays when it has lost what it has. */
    boolean outstays() {
        return this == LOCK_AND_OUTSTAY || this == LOCK_WHAT_IS_OVER || isTakenAway();
    }

    /** Returns whether the leader itself ends its term, by ending its work. */
    boolean endsWork() {
        return this == STAND_AND_RETURN || this == STAND_AND_THROW;
    }

    /** Returns whether its candidate's terms end before the candidate is closed. */
    boolean endsTerm() {
        return endsWork() || this == STAND_AND_RESIGN;
    }

    /** Returns what it is a method of. */
    Set<Kind> kinds() {
        return kinds;
    }
}
