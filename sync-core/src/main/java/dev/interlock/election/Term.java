package dev.interlock.election;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import java.util.concurrent.CompletionStage;

/** The time from an election of a candidate to its end. Safe for use by any number of threads. */
public interface Term {
    /** Why a term has ended. */
    enum End {
        /** The lease was lost, or an operator has taken it; another candidate may lead. */
        LOST,

        /** The candidate has resigned. */
        RESIGNED,

        /** The {@link TermTask} has returned. */
        RETURNED,

        /** The {@link TermTask}, or {@link TermListener#elected}, has thrown. */
        FAILED,

        /** The candidate or its session was closed. */
        CLOSED
    }

    /** Returns the name of the election. */
    String name();

    /**
     * Returns the fencing token of this term, also after its end: greater than those of all earlier terms. A resource
     * that refuses tokens less than the greatest that it has seen is safe from leaders that don't know yet that they
     * are deposed.
     */
    long fencingToken();

    /**
     * Returns whether it is certain, as far as this session knows, that no other candidate leads. Doesn't ask Redis. It
     * is false as soon as the term has ended or the lease is over by this session's clock, and while the machine was
     * suspended and Redis has not been asked since.
     */
    boolean isValid();

    /**
     * Throws unless the term is valid. Asks Redis only if the machine was suspended since the lease was last renewed.
     *
     * @throws LeaseLostException if it was lost
     * @throws IllegalStateException if it has ended for another reason
     * @throws RedisUnavailableException if Redis had to be asked, and has not answered within one command time-out
     */
    void assertValid();

    /**
     * Ends this term, if it goes on, as {@link Candidate#resign} does. Another term of the same candidate isn't
     * affected.
     *
     * @return as {@link Candidate#resign}
     */
    CompletionStage<Void> resign();
}
