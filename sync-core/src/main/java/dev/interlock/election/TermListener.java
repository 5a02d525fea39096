package dev.interlock.election;

/**
 * Is told when a candidate is elected, and when it is deposed. Calls come one after the other, in a thread of the
 * candidate's own, so they may take their time: leases are renewed meanwhile.
 */
public interface TermListener {
    /**
     * The candidate was elected. The thread is interrupted if the term ends during this call. What it throws is logged,
     * and ends the term.
     *
     * @param term the new term
     * @throws InterruptedException if the thread is interrupted
     */
    default void elected(Term term) throws InterruptedException {}

    /**
     * A term has ended. Called exactly once for each call of {@link #elected}, after that has returned. What it throws
     * is logged.
     *
     * @param term the term, which isn't valid any more
     * @param why why it has ended
     */
    default void deposed(Term term, Term.End why) {}
}
