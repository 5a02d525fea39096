package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import java.util.Iterator;
import java.util.List;

/**
 * The reply of {@code semaphore/tell}, in the order of its fields but for {@code owned}.
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
        DISAGREED;

        private static Status of(long code) {
            return switch (Ints.checkedCast(code)) {
                case 0 -> CLOSED;
                case 1 -> OPEN;
                case 2 -> DISAGREED;
                case -1 -> UNKNOWN;
                default -> throw new IllegalArgumentException("not a status: " + code);
            };
        }
    }

    static final long NEVER = -1;

    static SemaphoreReply of(List<Object> reply) {
        Iterator<Object> fields = reply.iterator();
        Status status = Status.of(next(fields));
        if (status == Status.DISAGREED) {
            return new SemaphoreReply(status, 0, 0, nextInt(fields), next(fields) == 1, false, NEVER, 0, 0, 0, 0);
        }
        boolean isClosed = status == Status.CLOSED;
        return new SemaphoreReply(
                status,
                next(fields),
                next(fields),
                nextInt(fields),
                false,
                next(fields) > 0,
                next(fields),
                next(fields),
                next(fields),
                isClosed ? next(fields) : 0,
                isClosed ? next(fields) : 0);
    }

    private static long next(Iterator<Object> fields) {
        return (Long) fields.next();
    }

    private static int nextInt(Iterator<Object> fields) {
        return Ints.saturatedCast(next(fields));
    }

    /** Returns whether the account is gone. */
    boolean isGone() {
        return status == Status.CLOSED || status == Status.UNKNOWN;
    }
}
