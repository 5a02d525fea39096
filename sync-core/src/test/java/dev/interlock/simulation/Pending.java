package dev.interlock.simulation;

import java.util.Set;

/** What plans don't have yet, since the library is known to fail in them. A line goes with what mends that. */
final class Pending {
    static final Set<Call> CALLS = Set.of(
            // A thread that doesn't wait passes those that wait for permits.
            Call.TRY_ACQUIRE_AT_ONCE);
    static final Set<Fault.Kind> FAULTS = Set.of(
            // Fencing tokens are drawn again that were drawn after the copy was made.
            Fault.Kind.STALE_COPY,
            // A thread that waits for a condition isn't told that Redis refuses that for good.
            Fault.Kind.NO_PERMISSION,
            Fault.Kind.WRONG_TYPE,
            // A thread is told that it has what was over while its machine was suspended.
            Fault.Kind.SUSPENSION);
    static final Set<Trait> TRAITS = Set.of(
            // A token key that is there is trusted, however old it is.
            Trait.TOKENS_OUTLIVE_LOSSES,
            // A script writes a key, fails at another one of a wrong type, and the first one never expires.
            Trait.HALVES_ARE_FORGOTTEN);

    private Pending() {}
}
