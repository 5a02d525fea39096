package dev.interlock.simulation;

import java.util.Arrays;
import java.util.List;

/** What threads of a simulated fleet share. */
enum Kind {
    PLAIN_LOCK,
    FAIR_LOCK,
    RETAINED_LOCK,
    SEMAPHORE,
    FAIR_SEMAPHORE,
    LATCH,
    BARRIER;

    /** Returns what threads call. */
    List<Call> calls() {
        return Arrays.stream(Call.values())
                .filter(call -> call.kinds().contains(this))
                .toList();
    }

    boolean isFair() {
        return this == FAIR_LOCK || this == FAIR_SEMAPHORE;
    }
}
