package dev.interlock.internal.barrier;

import com.google.common.primitives.ImmutableIntArray;
import java.util.List;

/**
 * The reply of {@code barrier/meet}: the state of a barrier in Redis, and of one session there.
 *
 * @param status whether the session is a member
 * @param generation the current one; for {@link Status#OTHER_PARTIES}, how many parties the barrier has
 * @param state that of the current generation
 * @param arrived how many threads of all sessions have arrived in it
 * @param dueMillis when the first lease of another member is over; negative if there is none
 * @param counted the last generation in which threads of the session were counted
 * @param outcome what became of that
 * @param resets the latest reset of the session that is done
 * @param places as which of all arrivals in {@code counted} its threads were counted, in their order
 */
record BarrierReply(
        Status status,
        long generation,
        State state,
        int arrived,
        long dueMillis,
        long counted,
        Outcome outcome,
        long resets,
        ImmutableIntArray places) {

    private static final int STATUS = 0;
    private static final int GENERATION = 1;
    private static final int STATE = 2;
    private static final int ARRIVED = 3;
    private static final int DUE = 4;
    private static final int COUNTED = 5;
    private static final int OUTCOME = 6;
    private static final int RESETS = 7;
    private static final int FIRST_PLACE = 8;

    /** In the order of the script's codes. */
    enum Status {
        FORGOTTEN,
        MEMBER,
        LEFT,
        OTHER_PARTIES
    }

    /** In the order of the script's codes. */
    enum State {
        OPEN,
        BROKEN,
        TRIPPING,
        TRIPPING_HERE
    }

    /** In the order of the script's codes. */
    enum Outcome {
        NONE,
        TRIPPED,
        BROKEN,
        BROKEN_HERE;

        static Outcome of(long code) {
            // A message may come from another client.
            return code >= 0 && code < values().length ? values()[(int) code] : NONE;
        }
    }

    static BarrierReply of(List<Object> reply) {
        ImmutableIntArray.Builder places = ImmutableIntArray.builder();
        for (int i = FIRST_PLACE; i < reply.size(); i++) {
            places.add((int) number(reply, i));
        }
        return new BarrierReply(
                Status.values()[(int) number(reply, STATUS)],
                number(reply, GENERATION),
                State.values()[(int) number(reply, STATE)],
                (int) number(reply, ARRIVED),
                number(reply, DUE),
                number(reply, COUNTED),
                Outcome.of(number(reply, OUTCOME)),
                number(reply, RESETS),
                places.build());
    }

    private static long number(List<Object> reply, int position) {
        return (Long) reply.get(position);
    }
}
