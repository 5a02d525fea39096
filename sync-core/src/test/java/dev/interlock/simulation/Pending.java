package dev.interlock.simulation;

import java.util.Set;

/** What plans don't have yet, since the library is known to fail in them. A line goes with what mends that. */
final class Pending {
    static final Set<Call> CALLS = Set.of(
            // A thread that doesn't wait passes those that wait for permits.
            Call.TRY_ACQUIRE_AT_ONCE);
    static final Set<Fault.Kind> FAULTS = Set.of(
            // Fencing tokens are drawn again that were drawn after the copy was made.
            Fault.Kind.STALE_COPY);
    static final Set<Trait> TRAITS = Set.of(
            // A token key that is there is trusted, however old it is.
            Trait.TOKENS_OUTLIVE_LOSSES);

    private Pending() {}
}
