package dev.interlock.internal.latch;

import java.util.List;

/**
 * The reply of {@code latch/tell}.
 *
 * @param status what has become of the latch that the object has joined, or would join
 * @param left what the count is by now
 * @param began what it began with
 * @param born when the latch was made, by Redis' clock
 */
record LatchReply(Status status, long left, int began, long born) {
    /** In the order of the script's codes. */
    enum Status {
        /** Redis doesn't know the latch any more. */
        GONE,
        COUNTING,
        OPEN,
        /** It was opened, and the name is free again or another latch has it. */
        PAST,
        OTHER_COUNT
    }

    static LatchReply of(List<Object> reply) {
        long[] numbers = reply.stream().mapToLong(Long.class::cast).toArray();
        return new LatchReply(Status.values()[(int) numbers[0]], numbers[1], (int) numbers[2], numbers[3]);
    }
}
