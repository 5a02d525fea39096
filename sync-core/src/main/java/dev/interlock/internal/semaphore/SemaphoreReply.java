package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import java.util.List;

/**
 * The reply of {@code semaphore/tell}.
 *
 * @param status whether the session has the account that it spoke of
 * @param granted how many permits the account was granted, in all
 * @param available how many permits the pool has
 * @param permits how many permits there are
 * @param owned only of another semaphore: whether its permits belong to sessions
 * @param contended whether other sessions wait
 * @param leaseEndMillis when the first lease of another session is over, {@link #NEVER} if there is none
 * @param operation the number of the last operation of the account
 * @param result its result
 * @param returned only of a closed account: how many permits it has given back
 * @param contributed only of a closed account: by how much it has enlarged the pool
 */
record SemaphoreReply(
        Status status,
        long granted,
        long available,
        int permits,
        boolean owned,
        boolean contended,
        long leaseEndMillis,
        long operation,
        long result,
        long returned,
        long contributed) {

    enum Status {
        OPEN,
        CLOSED,
        /** Redis doesn't know of such an account. */
        UNKNOWN,
        /** The semaphore isn't what the session has stated. */
        DISAGREED
    }

    static final long NEVER = -1;

    private static final int STATUS = 0;
    private static final int GRANTED = 1;
    private static final int AVAILABLE = 2;
    private static final int PERMITS = 3;
    private static final int WAITING = 4;
    private static final int LEASE_END = 5;
    private static final int OPERATION = 6;
    private static final int RESULT = 7;
    private static final int RETURNED = 8;
    private static final int CONTRIBUTED = 9;

    private static final int ACTUAL_PERMITS = 1;
    private static final int ACTUAL_OWNED = 2;

    static SemaphoreReply of(List<Object> reply) {
        Status status = status(number(reply, STATUS));
        if (status == Status.DISAGREED) {
            int permits = Ints.saturatedCast(number(reply, ACTUAL_PERMITS));
            boolean owned = number(reply, ACTUAL_OWNED) == 1;
            return new SemaphoreReply(status, 0, 0, permits, owned, false, NEVER, 0, 0, 0, 0);
        }
        boolean isClosed = status == Status.CLOSED;
        return new SemaphoreReply(
                status,
                number(reply, GRANTED),
                number(reply, AVAILABLE),
                Ints.saturatedCast(number(reply, PERMITS)),
                false,
                number(reply, WAITING) > 0,
                number(reply, LEASE_END),
                number(reply, OPERATION),
                number(reply, RESULT),
                isClosed ? number(reply, RETURNED) : 0,
                isClosed ? number(reply, CONTRIBUTED) : 0);
    }

    private static Status status(long code) {
        return switch (Ints.checkedCast(code)) {
            case 0 -> Status.CLOSED;
            case 1 -> Status.OPEN;
            case 2 -> Status.DISAGREED;
            case -1 -> Status.UNKNOWN;
            default -> throw new IllegalArgumentException("not a status: " + code);
        };
    }

    private static long number(List<Object> reply, int position) {
        return (Long) reply.get(position);
    }

    /** Returns whether the account is gone. */
    boolean isGone() {
        return status == Status.CLOSED || status == Status.UNKNOWN;
    }
}
