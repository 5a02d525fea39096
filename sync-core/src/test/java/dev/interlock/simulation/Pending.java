package dev.interlock.simulation;

import java.util.Set;

/** What plans don't have yet, since the library is known to fail in them. A line goes with what mends that. */
final class Pending {
    static final Set<Call> CALLS = Set.of(
            // A lost lock blocks its own JVM, for ever if the thread that has lost it never unlocks.
            Call.LOCK_AND_OUTSTAY,
            Call.LOCK_AND_LOSE,
            Call.READ_AND_LOSE,
            // A thread enters once more what it is known to have lost.
            Call.LOCK_WHAT_IS_OVER,
            Call.LOCK_WHAT_IS_LOST,
            Call.READ_WHAT_IS_LOST);
    static final Set<Fault.Kind> FAULTS = Set.of();
    static final Set<Check> CHECKS = Set.of(Check.LOST_LOCKS_BLOCK_NOBODY);

    private Pending() {}
}
