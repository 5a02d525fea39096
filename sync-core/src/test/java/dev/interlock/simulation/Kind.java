package dev.interlock.simulation;

import dev.interlock.internal.lock.script.TenureProbe;
import dev.interlock.internal.quorum.QuorumProbe;

/** What threads of a simulated fleet share. */
enum Kind {
    PLAIN_LOCK,
    FAIR_LOCK,
    RETAINED_LOCK,
    READ_WRITE_LOCK,
    FAIR_READ_WRITE_LOCK,
    QUORUM_LOCK,
    SEMAPHORE,
    FAIR_SEMAPHORE,
    LATCH,
    BARRIER,
    RATE_LIMITER,
    /** Holds, and the plain lock of the same name. */
    HOLD,
    /** Holds of permits, and the semaphore of the same name. */
    HELD_PERMITS,
    /** Candidates of one election. */
    ELECTION;

    boolean isFair() {
        return this == FAIR_LOCK || this == FAIR_READ_WRITE_LOCK || this == FAIR_SEMAPHORE;
    }

    /**
     * Returns how often a thread that waits may be overtaken by those that call later. Threads of a session that is
     * ahead in the queue may share its tenure; and a reader behind writers of its own JVM has no place in the queue
     * yet, nor has a candidate behind others of its session.
     *
     * @param threads how many threads there are
     */
    int mostOvertaken(int threads) {
        return switch (this) {
            case FAIR_LOCK -> 0;
            case FAIR_READ_WRITE_LOCK, ELECTION -> 2 * threads;
            default -> EntryOrder.NONE;
        };
    }

    /** Returns whether it belongs to no thread. */
    boolean isOfHolds() {
        return this == HOLD || this == HELD_PERMITS || this == ELECTION;
    }

    /** Returns the key that Redis has for a name. */
    String key(String name) {
        return switch (this) {
            case READ_WRITE_LOCK, FAIR_READ_WRITE_LOCK -> TenureProbe.readWriteKey(name);
            case QUORUM_LOCK -> QuorumProbe.key(name);
            default -> name;
        };
    }
}
