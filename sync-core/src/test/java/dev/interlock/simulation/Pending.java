package dev.interlock.simulation;

import java.util.Set;

/** What plans don't have yet, since the library is known to fail in them. A line goes with what mends that. */
final class Pending {
    static final Set<Call> CALLS = Set.of();
    static final Set<Fault.Kind> FAULTS = Set.of();
    static final Set<Check> CHECKS = Set.of();

    private Pending() {}
}
