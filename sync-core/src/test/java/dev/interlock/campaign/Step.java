package dev.interlock.campaign;

import java.util.List;

/**
 * What a thread of the fleet has done with one synchronizer. Times are nanoseconds by the clock of the machine.
 *
 * @param jvm index of its JVM, counting those that were started in place of others
 * @param thread index of its thread in that JVM
 * @param act what it did
 * @param begun a moment before it asked
 * @param entered a moment after it got what it asked for; 0 if it didn't
 * @param until the last moment at which it had that for certain; for what has no duration, a moment after the call
 *     returned
 * @param token the fencing token; 0 if there is none, or if it was lost before it could be read
 * @param number how many permits, which round of a latch, which index of arrival, the token of the second name
 * @param end how it ended
 */
record Step(int jvm, int thread, Act act, long begun, long entered, long until, long token, long number, End end) {

    private static final String LOCKED = "campaign:lock";
    private static final String RETAINED = "campaign:retained";

    /** What threads do. */
    enum Act {
        LOCK(true),
        FAIR_LOCK(true),
        RETAINED_LOCK(true),
        CONDITION(true),
        WRITE(true),
        READ(false),
        PERMITS(false),
        COUNT_DOWN(false),
        AWAIT_LATCH(false),
        BARRIER(false),
        /** By a hold, as {@link #LOCK}. */
        HOLD(false),
        /** By a hold, as {@link #RETAINED_LOCK}. */
        HOLD_RETAINED(false),
        /** Both names by one hold. */
        HOLD_BOTH(false),
        /** By a candidate, from when it stands until its term is over. */
        LEAD(true),
        /** It takes and releases a lock of its own, to see how long Redis and its JVM take for that. */
        LOOK(false);

        /** Whether only one thread of the fleet has its name at a time, with a fencing token. */
        final boolean isExclusive;

        Act(boolean isExclusive) {
            this.isExclusive = isExclusive;
        }

        /** Returns the names that it acquires, in the order of their tokens. */
        List<String> names() {
            return switch (this) {
                case LOCK, HOLD -> List.of(LOCKED);
                case RETAINED_LOCK, HOLD_RETAINED -> List.of(RETAINED);
                case HOLD_BOTH -> List.of(LOCKED, RETAINED);
                default -> List.of();
            };
        }

        /** Returns what threads do with the lock of a name. */
        static Act of(String name) {
            return name.equals(LOCKED) ? LOCK : RETAINED_LOCK;
        }
    }

    /** How steps end. */
    enum End {
        /** Not at all: its JVM was killed, or the campaign was over. */
        NEVER,
        DONE,
        /** What it had was lost, as it was told. */
        LOST,
        /** It waited no longer: time-out, interrupt, or an outage. */
        GAVE_UP,
        /** A barrier that was broken. */
        BROKEN
    }

    /** Returns what was done with the second name, of which the token is another one. */
    Step ofSecondName() {
        return new Step(jvm, thread, act, begun, entered, until, number, 0, end);
    }

    boolean hasEntered() {
        return entered != 0;
    }

    @Override
    public String toString() {
        return String.format(
                "%,18d … %,18d … %,18d  jvm %d thread %2d  %-13s %-7s token %d, %d",
                begun, entered, until, jvm, thread, act, end, token, number);
    }
}
