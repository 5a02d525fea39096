package dev.interlock.internal.lock.quorum;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What events have the owner of a {@link QuorumState} do. */
final class QuorumEffects {
    /**
     * A command to one node.
     *
     * @param writesBack whether it writes back the token of the round; else it gives up the vote for that
     */
    record Command(VoteRound round, int node, boolean writesBack) {}

    /** When to look whether the lease of a tenure is over. */
    record Expiry(QuorumTenure tenure, long millis) {}

    /**
     * What the listener hears of a renewal.
     *
     * @param leftNanos for how long the tenure is valid yet
     * @param failure what the renewal has failed by, if it has
     */
    record Report(long leftNanos, @Nullable Throwable failure) {}

    final List<Command> commands = new ArrayList<>();

    /** Whether a majority has answered, which ends an outage. */
    boolean heard;

    @Nullable
    Expiry expiry;

    @Nullable
    Report report;

    /** Whether the leader looks at the state again. */
    boolean wakes;
}
