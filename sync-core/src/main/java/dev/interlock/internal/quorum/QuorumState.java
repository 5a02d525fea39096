package dev.interlock.internal.quorum;

import dev.interlock.internal.quorum.QuorumScripts.Status;
import dev.interlock.internal.quorum.QuorumScripts.Vote;
import dev.interlock.internal.quorum.VoteRound.Defeat;
import dev.interlock.internal.quorum.VoteRound.Request;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Effects;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of one quorum lock: the {@link VoteRound} of its leader, its {@link QuorumTenure} while it owns
 * the name, and what it hasn't released yet. Events come in, to it or to these parts: threads, answers, beats, each
 * with its instant. Out come what is to be sent to all nodes, which an event returns, and the {@linkplain QuorumEffect
 * effects} that the owner carries out after each event. It knows no session, thread or clock, and is used with the
 * owner's mutex only, but for the tenure, which is volatile.
 */
final class QuorumState {
    private final String name;
    private final Settings settings;
    private final int nodes;
    private final int majority;

    /** The one that a thread has entered on, until the session gives it up; also if it is lost. */
    private volatile @Nullable QuorumTenure tenure;

    /** The last round of a leader. */
    private @Nullable VoteRound round;

    /** How many nodes have been freed since the last round began. */
    int freed;

    /** The least token of the next tenure. */
    private long floor = 1;

    /** The last sequence that the session has asked with, 0 if it has released all. */
    private long sequence;

    /** The longest lease that a request has asked for which isn't released, 0 if there is none. */
    private long leaseMillis;

    /** The steps that the owner has yet to take. */
    final Effects<QuorumEffect> effects = new Effects<>();

    /**
     * Requests that the session hasn't released.
     *
     * @param sequence that of the last one
     * @param leaseMillis the longest lease that any of them has asked for
     */
    record Unreleased(long sequence, long leaseMillis) {}

    /** Begins with nothing. */
    QuorumState(String name, Settings settings, int nodes, int majority) {
        this.name = name;
        this.settings = settings;
        this.nodes = nodes;
        this.majority = majority;
    }

    @Nullable
    QuorumTenure tenure() {
        return tenure;
    }

    // ---- rounds

    /** The leader asks by a sequence. The round goes to all nodes. */
    VoteRound ask(long asked, long millis, boolean renewed, boolean waits, long now) {
        leaseMillis = Math.max(leaseMillis, millis);
        sequence = asked;
        freed = 0;
        assert sequence != 0 && leaseMillis > 0;
        VoteRound next =
                new VoteRound(new Request(asked, millis, renewed, waits, floor), nodes, majority, now, effects);
        round = next;
        return next;
    }

    /** A node has answered, or has failed. */
    void answered(VoteRound asked, int node, @Nullable Vote vote, @Nullable Throwable thrown) {
        asked.answered(node, vote, thrown);
        QuorumTenure current = tenure;
        if (vote != null
                && vote.status() == Status.VOTED
                && current != null
                && current.sequence == asked.request.sequence()) {
            current.votedLate(node, vote.token());
        }
    }

    /** Enters on the tenure of a round if that is won; returns null if it isn't, or if that took too long. */
    @Nullable
    QuorumTenure own(VoteRound asked, long now) {
        if (!asked.isWon()) {
            return null;
        }
        QuorumTenure next = new QuorumTenure(name, settings, asked, now, effects);
        if (!next.take(now)) {
            return null;
        }
        next.begin();
        floor = next.tokens.remotePart() + 1;
        tenure = next;
        return next;
    }

    /** The round is not won: its votes are given back. */
    Defeat abandon(VoteRound lost) {
        floor = Math.max(floor, lost.greatestToken() + 1);
        return lost.abandon();
    }

    /** Returns what the last round has failed with, if it was an error. */
    @Nullable
    Throwable failure() {
        return round == null ? null : round.failure();
    }

    // ---- tenures and releases

    /** The tenure ends without being released: the next request, or its release, does that. */
    @Nullable
    QuorumTenure endTenure() {
        QuorumTenure current = tenure;
        if (current != null) {
            tenure = null;
            current.end();
        }
        return current;
    }

    /** Returns the requests that the session hasn't released, null if there are none. */
    @Nullable
    Unreleased unreleased() {
        return sequence == 0 ? null : new Unreleased(sequence, leaseMillis);
    }

    /** The session gives up its tenure and all its requests. Returns these, null if there are none. */
    @Nullable
    Unreleased release() {
        Unreleased all = unreleased();
        sequence = 0;
        leaseMillis = 0;
        return all;
    }

    String describe(String session, long now) {
        QuorumTenure current = tenure;
        if (current != null) {
            return (current.isOver(now) ? "lost tenure " : "tenure ") + current.sequence + " of " + session + " at "
                    + current.strength() + " of " + nodes + " nodes";
        }
        return (sequence == 0 ? "no tenure of " : "request " + sequence + " of ") + session;
    }
}
