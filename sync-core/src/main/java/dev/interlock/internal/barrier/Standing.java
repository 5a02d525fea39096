package dev.interlock.internal.barrier;

import com.google.common.primitives.ImmutableIntArray;
import java.util.List;

/**
 * How things stand with a barrier in Redis, and with one session there.
 *
 * @param status whether the session is a member
 * @param generation the current one; for {@link Status#OTHER_PARTIES}, how many parties the barrier has
 * @param state that of the current generation
 * @param arrived how many threads of all sessions have arrived in it
 * @param dueMillis when the lease is over of the session that has to be heard of first; negative if there is none
 * @param counted the last generation in which threads of the session were counted
 * @param outcome what became of that
 * @param resets the latest reset of the session that is done
 * @param places as which of all arrivals in {@code counted} its threads were counted, in their order
 */
record Standing(
        Status status,
        long generation,
        State state,
        int arrived,
        long dueMillis,
        long counted,
        Outcome outcome,
        long resets,
        ImmutableIntArray places) {

    private static final int FIRST_PLACE = 8;

    enum Status {
        FORGOTTEN,
        MEMBER,
        LEFT,
        OTHER_PARTIES
    }

    enum State {
        OPEN,
        BROKEN,
        TRIPPING,
        TRIPPING_HERE
    }

    enum Outcome {
        NONE,
        TRIPPED,
        BROKEN,
        BROKEN_HERE;

        static Outcome of(long code) {
            // A message may be a stranger's.
            return code >= 0 && code < values().length ? values()[(int) code] : NONE;
        }
    }

    static Standing of(List<Object> reply) {
        ImmutableIntArray.Builder places = ImmutableIntArray.builder();
        for (int i = FIRST_PLACE; i < reply.size(); i++) {
            places.add((int) number(reply, i));
        }
        return new Standing(
                Status.values()[(int) number(reply, 0)],
                number(reply, 1),
                State.values()[(int) number(reply, 2)],
                (int) number(reply, 3),
                number(reply, 4),
                number(reply, 5),
                Outcome.of(number(reply, 6)),
                number(reply, 7),
                places.build());
    }

    private static long number(List<Object> reply, int index) {
        return (Long) reply.get(index);
    }
}
