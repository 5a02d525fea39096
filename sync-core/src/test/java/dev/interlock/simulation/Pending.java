package dev.interlock.simulation;

import java.util.Set;

/** What plans don't have yet, since the library is known to fail in them. A line goes with what mends that. */
final class Pending {
    static final Set<Call> CALLS = Set.of();
    static final Set<Fault.Kind> FAULTS = Set.of();
    static final Set<Trait> TRAITS = Set.of(
            // A script writes a key, fails at another one of a wrong type, and the first one never expires.
            Trait.HALVES_ARE_FORGOTTEN);

    private Pending() {}
}
