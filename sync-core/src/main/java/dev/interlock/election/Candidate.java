package dev.interlock.election;

import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * One who stands for election, from {@link Election#run} or {@link Election#stand} until it is closed. It stays a
 * candidate while Redis can't be reached, and is elected once that is there again. Safe for use by any number of
 * threads.
 */
public interface Candidate extends AutoCloseable {
    /** Returns the name of the election. */
    String name();

    /** Returns whether this candidate has a term that is {@linkplain Term#isValid() valid}. Doesn't ask Redis. */
    boolean isLeader();

    /** Returns the current term, if there is one whose end isn't known. Doesn't ask Redis. */
    Optional<Term> term();

    /**
     * Ends the current term, if there is one, and gives the leadership to the next candidate when the work, or
     * {@link TermListener#deposed}, has returned. This candidate stands again, after all others that wait.
     *
     * @return a stage that completes when another candidate may be elected, as {@link dev.interlock.Hold#release} does;
     *     at once if there is no term
     */
    CompletionStage<Void> resign();

    /**
     * Returns a stage that completes when this candidate stands no more and has nothing left in Redis: after
     * {@link #close()}, also that of its session. It completes with an {@link IllegalStateException} if Redis refuses
     * the candidacy for a reason that lasts, such as a value of another type at its key; then the candidate doesn't
     * stand again.
     */
    CompletionStage<Void> ended();

    /**
     * Withdraws the candidate for good, and ends its term as {@link #resign} does. Doesn't wait for that:
     * {@link #ended()} tells. A second call does nothing.
     */
    @Override
    void close();
}
