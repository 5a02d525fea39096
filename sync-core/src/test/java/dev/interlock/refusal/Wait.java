package dev.interlock.refusal;

import java.util.List;

/**
 * A way in which threads of one session wait for what another session has or does.
 *
 * @param what it is, for messages
 * @param keys under which Redis keeps it: something else may come there
 * @param threads how many wait
 * @param isInterrupted whether they are interrupted when Redis begins to refuse
 */
record Wait(String what, List<String> keys, int threads, boolean isInterrupted, Steps steps) {
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

    Wait(String what, List<String> keys, Steps steps) {
        this(what, keys, 1, false, steps);
    }

    Wait ofThreads(int number) {
        return new Wait(number + " × " + what, keys, number, isInterrupted, steps);
    }

    Wait interrupted() {
        return new Wait(what + " that is interrupted", keys, threads, true, steps);
    }

    @Override
    public String toString() {
        return what;
    }
}
