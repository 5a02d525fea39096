package dev.interlock.campaign;

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
 * @param number how many permits, which round of a latch, which index of arrival
 * @param end how it ended
 */
record Step(int jvm, int thread, Act act, long begun, long entered, long until, long token, long number, End end) {

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
        /** It takes and releases a lock of its own, to see how long Redis and its JVM take for that. */
        LOOK(false);

        /** Whether only one thread of the fleet does it at a time, with a fencing token. */
        final boolean isExclusive;

        Act(boolean isExclusive) {
            this.isExclusive = isExclusive;
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
