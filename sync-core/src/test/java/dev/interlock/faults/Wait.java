package dev.interlock.faults;

import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import org.jspecify.annotations.Nullable;

/**
 * A way in which threads of one session wait for what another session has or does.
 *
 * @param kind what they wait for
 * @param what it is, for messages
 * @param keys under which Redis keeps it: something else may come there
 * @param threads how many wait
 * @param isInterrupted whether they are interrupted when Redis begins to refuse
 */
record Wait(Kind kind, String what, List<String> keys, int threads, boolean isInterrupted, Steps steps) {
    /**
     * The kinds of objects, each with the exception that waiting threads get when Redis has lost it, or null if they
     * get in.
     */
    enum Kind {
        LOCK(null),
        LOCK_BEHIND_RLOCK(null),
        CONDITION(null),
        SEMAPHORE(null),
        UNOWNED_SEMAPHORE(null),
        QUORUM_LOCK(null),
        LATCH(IllegalStateException.class),
        BARRIER(BrokenBarrierException.class),
        ADAPTED_LOCK(null),
        ADAPTED_SEMAPHORE(null),
        ADAPTED_LATCH(null);

        private final @Nullable Class<? extends Exception> loss;

        Kind(@Nullable Class<? extends Exception> loss) {
            this.loss = loss;
        }

        @Nullable
        Class<? extends Exception> loss() {
            return loss;
        }

        /** Returns whether the other session has what is waited for, and gives it back when it is closed. */
        boolean isHeldBySession() {
            return this == LOCK || this == SEMAPHORE || this == QUORUM_LOCK;
        }

        /** Returns whether it is one of Redisson's locks, in which Redisson waits. */
        boolean isRedissons() {
            return this == ADAPTED_LOCK;
        }
    }

    /** A step that may fail. */
    interface Step {
        void run() throws Exception;
    }

    /** The steps of both sides, in the order in which they happen. */
    interface Steps {
        /** The other session takes what is waited for. */
        default void hold() {}

        /** A thread waits, and gives back what it gets. */
        void await() throws Exception;

        /** Returns whether Redis knows that threads wait. */
        boolean isWaiting();

        /** The other session is about to give what is waited for. */
        default void prepareToGive() {}

        /** The other session gives it, unless that is refused, too. */
        void give() throws Exception;

        /** Nothing is refused any more: a thread gets what it waits for. */
        default void awaitAgain() throws Exception {}
    }

    Wait(Kind kind, String what, List<String> keys, Steps steps) {
        this(kind, what, keys, 1, false, steps);
    }

    Wait ofThreads(int number) {
        return new Wait(kind, number + " × " + what, keys, number, isInterrupted, steps);
    }

    Wait interrupted() {
        return new Wait(kind, what + " that is interrupted", keys, threads, true, steps);
    }

    @Override
    public String toString() {
        return what;
    }
}
