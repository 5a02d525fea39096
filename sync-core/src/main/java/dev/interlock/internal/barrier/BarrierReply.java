package dev.interlock.internal.barrier;

import com.google.common.primitives.ImmutableIntArray;
import java.util.Arrays;
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
        long[] numbers = reply.stream().mapToLong(Long.class::cast).toArray();
        return new BarrierReply(
                Status.values()[(int) numbers[0]],
                numbers[1],
                State.values()[(int) numbers[2]],
                (int) numbers[3],
                numbers[4],
                numbers[5],
                Outcome.of(numbers[6]),
                numbers[7],
                ImmutableIntArray.copyOf(
                        Arrays.stream(numbers).skip(FIRST_PLACE).mapToInt(Math::toIntExact)));
    }
}
