package dev.interlock.simulation;

import java.util.List;

/** What plans are about: of what threads share, and of what goes wrong, only these. */
record Focus(List<Kind> kinds, List<Fault.Kind> faults) {
    /** Everything. */
    static final Focus NONE = new Focus(List.of(Kind.values()), List.of(Fault.Kind.values()));
}
