package dev.interlock.simulation;

import dev.interlock.internal.redis.Script;

/** Random calls of the scripts of one object, by several sessions; many are repeated, late, or out of order. */
interface RandomCalls {
    Script.Call next();

    /** Takes note of what came of the call, so that the next ones fit. */
    default void heard(Outcome outcome) {}
}
