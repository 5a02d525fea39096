package dev.interlock.ratelimit.fleet;

import dev.interlock.testing.rig.LogFormat;
import java.util.Map;

/**
 * A request for one permit. Redis decided on it at some time in between.
 *
 * @param jvm index of its JVM in the fleet
 * @param begun a moment before the call, by the clock of the machine
 * @param ended a moment after it
 * @param answer {@link #REFUSED}, {@link #ADMITTED}, or how many permits remained after this one
 */
record Call(int jvm, long begun, long ended, int answer) {

    static final int REFUSED = -2;
    static final int ADMITTED = -1;

    /** How calls are recorded, with what they ask. */
    static final LogFormat<Map.Entry<Kind, Call>> LOG = new LogFormat<>(
            3,
            500_000,
            (jvm, thread, words) ->
                    Map.entry(RateWork.kind(thread), new Call(jvm, words[0], words[1], (int) words[2])));

    boolean isAdmitted() {
        return answer != REFUSED;
    }
}
