package dev.interlock.simulation;

/** A synchronizer as one session has it, which threads call. */
interface Subject {
    /** Does what the call is, and says to its {@link Witness} what comes of it. */
    void call(Op op, Worker worker) throws Exception;

    /**
     * Returns whether the current thread has a mutex of it. Other threads would wait for that in real time, so it isn't
     * preempted then.
     */
    default boolean isGuarded() {
        return true;
    }

    /** Its session is about to be closed. */
    default void close() {}

    /** No thread uses it any more. */
    default void drop() {}

    /** Returns whether this failure of a call may be, although nothing goes wrong. */
    default boolean mayFail(Op op, Exception failure) {
        return false;
    }
}
