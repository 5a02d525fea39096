package dev.interlock.simulation;

/**
 * Something that goes wrong.
 *
 * @param target the number of the JVM, or of the thread for an interrupt; Redis' own faults have none. Which of a
 *     quorum's nodes is meant the plan says, see {@link Plan#node}
 * @param atNanos when it begins
 * @param forNanos how long it lasts
 */
record Fault(Kind kind, int target, long atNanos, long forNanos) {
    /** What goes wrong. */
    enum Kind {
        /** What a JVM sends doesn't reach Redis. */
        LOST_REQUESTS,
        /** What Redis answers a JVM doesn't reach it. */
        LOST_REPLIES,
        /** What a JVM sends reaches Redis seconds later, after what it sends next. */
        LATE_REQUESTS,
        /** What a JVM sends reaches Redis twice, seconds apart. */
        DUPLICATES,
        /** What Redis answers a JVM comes late. */
        LATE_REPLIES,
        /** A JVM's connections are cut; what it sends fails, executed or not. */
        CUT,
        /** No message reaches a JVM's mailbox. */
        DEAF,
        /** Messages reach a JVM's mailbox late. */
        LATE_MAIL,
        /** A JVM stops and goes on. */
        FREEZE,
        /** A JVM ends. */
        DEATH,
        /** A JVM closes its session, and opens another one. */
        CLOSE,
        /** A thread is interrupted. */
        INTERRUPT,
        /** Redis can't be reached. */
        DOWN,
        /** Redis is started anew, with its data. */
        RESTART,
        /** Redis refuses commands for a while. */
        REFUSAL,
        /** Somebody publishes messages to a JVM's mailbox that no script has sent. */
        STRANGER,
        /** Redis' wall clock is set. */
        CLOCK_STEP,
        /** Redis is started anew, without its data. */
        DATA_LOSS,
        /** A replica takes over that has not got the last writes. */
        FAILOVER,
        /** A key is evicted. */
        EVICTION,
        /** Redis is started anew from a copy, or a replica takes over, which is as old as the fault lasts. */
        STALE_COPY,
        /** Redis refuses scripts that have a certain key, until somebody gives the right to use it. */
        NO_PERMISSION,
        /** Somebody overwrites a key by a value of another type, which stays until somebody removes it. */
        WRONG_TYPE,
        /** A JVM's machine is suspended: it stops and goes on, and its monotonic clock stands still meanwhile. */
        SUSPENSION;

        /** Returns whether it delays what sessions tell Redis, so that leases end and calls fail. */
        boolean delays() {
            return this != INTERRUPT && this != STRANGER && this != DEAF && this != DEATH;
        }

        /** Returns whether it lasts until somebody mends it. */
        boolean lasts() {
            return this == NO_PERMISSION || this == WRONG_TYPE;
        }

        /** Returns whether it is one of Redis itself, and not of a JVM. */
        boolean isOfRedis() {
            return switch (this) {
                case DOWN, RESTART, REFUSAL, CLOCK_STEP, DATA_LOSS, FAILOVER, EVICTION, STALE_COPY -> true;
                default -> lasts();
            };
        }

        /** Returns whether a JVM stops and goes on. */
        boolean stops() {
            return this == FREEZE || this == SUSPENSION;
        }

        /** Returns whether Redis may forget who owns what: then two may own it, until the first one's lease is over. */
        boolean losesData() {
            return this == CLOCK_STEP
                    || this == DATA_LOSS
                    || this == FAILOVER
                    || this == EVICTION
                    || this == STALE_COPY
                    || this == WRONG_TYPE;
        }
    }

    long endNanos() {
        return atNanos + forNanos;
    }
}
