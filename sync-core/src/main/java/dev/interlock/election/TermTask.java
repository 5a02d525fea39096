package dev.interlock.election;

/** The work of a leader. */
@FunctionalInterface
public interface TermTask {
    /**
     * Works until the term ends, or there is nothing more to do. The thread is interrupted when the term ends.
     *
     * @param term the term
     * @throws InterruptedException if the thread is interrupted
     */
    void run(Term term) throws InterruptedException;
}
