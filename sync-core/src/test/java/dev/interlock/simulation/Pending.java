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
            Call.READ_WHAT_IS_LOST,
            // A thread that doesn't wait is refused what nobody has, and passes those that wait for permits.
            Call.TRY_LOCK_AT_ONCE,
            Call.TRY_READ_AT_ONCE,
            Call.TRY_ACQUIRE_AT_ONCE);
    static final Set<Fault.Kind> FAULTS = Set.of(
            // Fencing tokens are drawn again that were drawn after the copy was made.
            Fault.Kind.STALE_COPY);
    static final Set<Trait> TRAITS = Set.of(
            Trait.LOST_LOCKS_BLOCK_NOBODY,
            // The clean-up has the local half for an instant.
            Trait.TASKS_ARE_PREEMPTED,
            // A token key that is there is trusted, however old it is.
            Trait.TOKENS_OUTLIVE_LOSSES);

    private Pending() {}
}
