package dev.interlock.simulation;

import java.util.List;
import java.util.stream.Stream;

/** What plans are about: of what threads share, and of what goes wrong, only these. */
record Focus(List<Kind> kinds, List<Fault.Kind> faults) {
    /** Everything but quorum locks, which have a test of their own. */
    static final Focus NONE = new Focus(
            Stream.of(Kind.values()).filter(kind -> kind != Kind.QUORUM_LOCK).toList(), List.of(Fault.Kind.values()));
}
