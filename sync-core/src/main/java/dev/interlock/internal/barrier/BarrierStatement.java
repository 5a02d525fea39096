package dev.interlock.internal.barrier;

import java.util.Locale;

/**
 * What a command says of one session and a barrier.
 *
 * @param membership join, rejoin, stay or leave
 * @param generation the one that the session's arrivals are in
 * @param arrivals how many of its threads have come to that in all
 * @param acts whether the last one has an action to run
 * @param wish for that generation
 * @param resets the number of the latest reset
 * @param resetsDone the latest one that is known to be done
 */
record BarrierStatement(
        String membership, long generation, int arrivals, boolean acts, Wish wish, long resets, long resetsDone) {
    /** What the session wants done with a generation. */
    enum Wish {
        NONE,
        BREAK,
        ACTED,
        FAILED,
        RENEW;

        /** As the script calls it. */
        final String word = name().toLowerCase(Locale.ROOT);
    }
}
