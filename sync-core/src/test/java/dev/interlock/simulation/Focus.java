package dev.interlock.simulation;

import java.util.List;
import java.util.stream.Stream;

/** What plans are about: of what threads share and call, of what goes wrong and of what is looked for, only these. */
record Focus(List<Kind> kinds, List<Call> calls, List<Fault.Kind> faults, List<Trait> traits) {
    /** Everything that the library is known to stand. */
    static final Focus NONE = new Focus(
            Stream.of(Kind.values()).filter(kind -> !kind.isOfHolds()).toList(),
            Stream.of(Call.values())
                    .filter(call -> !Pending.CALLS.contains(call))
                    .toList(),
            Stream.of(Fault.Kind.values())
                    .filter(kind -> !Pending.FAULTS.contains(kind))
                    .toList(),
            Stream.of(Trait.values())
                    .filter(check -> !Pending.TRAITS.contains(check))
                    .toList());

    /** Holds beside locks of the same names: seeds of their own, so that those of all others stay what they were. */
    static final Focus HOLDS = NONE.among(Kind.HOLD, Kind.HOLD, Kind.HELD_PERMITS);

    /** Elections, which are of holds: seeds of their own, too. */
    static final Focus ELECTIONS = NONE.among(Kind.ELECTION);

    Focus among(Kind... others) {
        return new Focus(List.of(others), calls, faults, traits);
    }

    Focus calling(Call... others) {
        return new Focus(kinds, List.of(others), faults, traits);
    }

    Focus under(Fault.Kind... others) {
        return new Focus(kinds, calls, List.of(others), traits);
    }

    Focus showing(Trait... others) {
        return new Focus(kinds, calls, faults, List.of(others));
    }

    /** Returns what threads call of that kind. */
    List<Call> calls(Kind kind) {
        return calls.stream().filter(call -> call.kinds().contains(kind)).toList();
    }
}
