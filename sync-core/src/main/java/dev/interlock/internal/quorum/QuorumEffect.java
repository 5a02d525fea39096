package dev.interlock.internal.quorum;

import dev.interlock.LeaseLostException;
import org.jspecify.annotations.Nullable;

/** A step that the owner of a {@link QuorumState} takes after an event. */
sealed interface QuorumEffect {
    /** The token of a round is written back to a node. */
    record WriteBack(VoteRound round, int node) implements QuorumEffect {}

    /** The vote of a node for a round is given up. */
    record GiveUp(VoteRound round, int node) implements QuorumEffect {}

    /** A majority has answered, which ends an outage. */
    record Heard() implements QuorumEffect {}

    /** The leader looks at the state again. */
    record Wake() implements QuorumEffect {}

    /** The tenure is lost: the lock hears of it. */
    record Lost(LeaseLostException loss) implements QuorumEffect {}

    /** After that time the tenure {@linkplain QuorumTenure#expire may be over}. */
    record Expire(QuorumTenure tenure, long millis) implements QuorumEffect {}

    /**
     * The listener hears of a renewal.
     *
     * @param leftNanos for how long the tenure is valid yet
     * @param failure what the renewal has failed by, if it has
     */
    record Report(long leftNanos, @Nullable Throwable failure) implements QuorumEffect {}
}
