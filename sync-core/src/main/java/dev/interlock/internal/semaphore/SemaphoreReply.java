package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import java.util.Iterator;
import java.util.List;

/**
 * The reply of {@code semaphore/tell}, in the order of its fields.
 *
 * @param status whether the session has the account that it spoke of
 * @param granted how many permits the account was granted, in all
 * @param available how many permits the pool has
 * @param permits how many permits there are
 * @param contended whether other sessions wait
 * @param leaseEndMillis when the first lease of another session is over, {@link #NEVER} if there is none
 * @param operation the number of the last operation of the account
 * @param result its result
 * @param returned how many permits the account has been given back
 * @param contributed by how much it has enlarged the pool
 * @param born when the semaphore was made, by Redis' clock
 */
record SemaphoreReply(
        Status status,
        long granted,
        long available,
        int permits,
        boolean contended,
        long leaseEndMillis,
        long operation,
        long result,
        long returned,
        long contributed,
        long born) {

    enum Status {
        OPEN,
        CLOSED,
        /** Redis doesn't know of such an account. */
        UNKNOWN,
        /** Permits of the semaphore belong to sessions though the session has stated that they don't, or vice versa. */
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
        return new SemaphoreReply(
                Status.of(next(fields)),
                next(fields),
                next(fields),
                Ints.saturatedCast(next(fields)),
                next(fields) > 0,
                next(fields),
                next(fields),
                next(fields),
                next(fields),
                next(fields),
                next(fields));
    }

    private static long next(Iterator<Object> fields) {
        return (Long) fields.next();
    }

    /** Returns whether the session has no account any more. */
    boolean isGone() {
        return status != Status.OPEN;
    }
}
