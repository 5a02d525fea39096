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

    private static final int STATUS = 0;
    private static final int LEFT = 1;
    private static final int BEGAN = 2;
    private static final int BORN = 3;

    static LatchReply of(List<Object> reply) {
        return new LatchReply(
                Status.values()[(int) number(reply, STATUS)],
                number(reply, LEFT),
                (int) number(reply, BEGAN),
                number(reply, BORN));
    }

    private static long number(List<Object> reply, int position) {
        return (Long) reply.get(position);
    }
}
