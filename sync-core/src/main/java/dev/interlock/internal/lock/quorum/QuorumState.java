package dev.interlock.internal.lock.quorum;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.quorum.QuorumScripts.Kept;
import dev.interlock.internal.lock.quorum.QuorumScripts.Status;
import dev.interlock.internal.lock.quorum.QuorumScripts.Vote;
import dev.interlock.internal.lock.quorum.QuorumTenure.Renewal;
import dev.interlock.internal.lock.quorum.VoteRound.Defeat;
import dev.interlock.internal.lock.quorum.VoteRound.Request;
import dev.interlock.internal.redis.Settings;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What a session knows of one quorum lock: the {@link VoteRound} of its leader, its {@link QuorumTenure} while it owns
 * the name, and what it hasn't released yet. Events come in: threads, answers, beats, each with its instant. Out come
 * what is to be sent to all nodes, which an event returns, and the {@linkplain QuorumEffects effects} that the owner
 * carries out after each event. It knows no session, thread or clock, and is used with the owner's mutex only, but for
 * the tenure, which is volatile.
 */
final class QuorumState {
    private final String name;
    private final Settings settings;
    private final int nodes;
    private final int majority;
    private final Consumer<LeaseLostException> owner;

    private volatile @Nullable QuorumTenure tenure;

    /** The leader's round. */
    private @Nullable VoteRound round;

    /** How many nodes have been freed since the last round began. */
    private int freed;

    /** The least token of the next tenure. */
    private long floor = 1;

    /** The last sequence that the session has asked with, 0 if it has released all. */
    private long sequence;

    /** The longest lease that a request has asked for which isn't released. */
    private long leaseMillis;

    /** The last release that was begun. */
    private @Nullable QuorumRelease latest;

    private QuorumEffects effects = new QuorumEffects();

    /**
     * Begins with nothing.
     *
     * @param owner is told if a tenure is lost
     */
    QuorumState(String name, Settings settings, int nodes, int majority, Consumer<LeaseLostException> owner) {
        this.name = name;
        this.settings = settings;
        this.nodes = nodes;
        this.majority = majority;
        this.owner = owner;
    }

    /** Returns the effects of the events since the last call. */
    QuorumEffects takeEffects() {
        QuorumEffects taken = effects;
        effects = new QuorumEffects();
        return taken;
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
        VoteRound next = new VoteRound(new Request(asked, millis, renewed, waits, floor), nodes, majority, now);
        round = next;
        return next;
    }

    /** A node has answered, or has failed. */
    void answered(VoteRound asked, int node, @Nullable Vote vote, @Nullable Throwable thrown) {
        asked.answered(node, vote, thrown, effects);
        QuorumTenure current = tenure;
        if (vote != null
                && vote.status() == Status.VOTED
                && current != null
                && current.sequence == asked.request.sequence()) {
            current.votedLate(node, vote.token());
        }
        effects.wakes |= round != null;
    }

    /** A node has answered that the token was written back, or has failed. */
    void wroteBack(VoteRound asked, int node, @Nullable Kept kept, @Nullable Throwable thrown) {
        asked.wroteBack(node, kept, thrown);
        effects.wakes |= round != null;
    }

    /** Begins the tenure of a round if that is won; returns null if it isn't, or if that took too long. */
    @Nullable
    QuorumTenure own(VoteRound asked, long now) {
        if (!asked.isWon()) {
            return null;
        }
        QuorumTenure next = new QuorumTenure(name, settings, asked, now, owner);
        if (!next.isUsable(now)) {
            return null;
        }
        next.begin(effects);
        next.tokens.draw();
        floor = next.tokens.remotePart() + 1;
        // The requests before have been overruled by this one at a majority of the nodes.
        leaseMillis = next.leaseMillis;
        tenure = next;
        return next;
    }

    /** The round is not won: its votes are given back. */
    Defeat abandon(VoteRound lost) {
        floor = Math.max(floor, lost.greatestToken() + 1);
        return lost.abandon(effects);
    }

    /** The leader has got what it wants, or goes. */
    void endRounds() {
        round = null;
    }

    /** Returns what the leader's round has failed with, if it was an error. */
    @Nullable
    Throwable failure() {
        return round == null ? null : round.failure();
    }

    /** A node tells that it was freed. */
    void freed() {
        freed++;
    }

    /** Returns how many nodes have been freed since the last round began. */
    int countFreed() {
        return freed;
    }

    // ---- tenures and releases

    /** Notices a lease that is over soon. Returns the renewal if one is due, which goes to all nodes. */
    @Nullable
    Renewal keep(long now) {
        QuorumTenure current = tenure;
        return current == null ? null : current.keep(now, effects);
    }

    /** A node has answered a renewal, or has failed. */
    void renewed(Renewal renewal, int node, @Nullable Kept kept, @Nullable Throwable thrown, long now) {
        renewal.answered(node, kept, thrown, now, effects);
    }

    /** The nodes have had the time to answer a renewal. */
    void endRenewal(Renewal renewal, long now) {
        renewal.end(now, effects);
    }

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

    /** The session gives up its tenure and all its requests. Returns the release, or null if there is nothing. */
    @Nullable
    QuorumRelease release(long now) {
        endTenure();
        if (sequence == 0) {
            return null;
        }
        // A node that is away for long has one release to be told of, not one for each tenure.
        long millis = latest == null ? leaseMillis : Math.max(leaseMillis, latest.leaseLeftMillis(now));
        if (latest != null) {
            latest.supersede();
        }
        latest = new QuorumRelease(sequence, millis, nodes, majority, now);
        sequence = 0;
        leaseMillis = 0;
        return latest;
    }

    /** The session is closed. Returns the release of its requests, or null if there are none. */
    @Nullable
    QuorumRelease close(long now) {
        return sequence == 0 ? null : new QuorumRelease(sequence, leaseMillis, nodes, majority, now);
    }

    String describe(String session, long now) {
        QuorumTenure current = tenure;
        if (current != null) {
            return (current.isUsable(now) ? "tenure " : "lost tenure ") + current.sequence + " of " + session + " at "
                    + current.strength() + " of " + nodes + " nodes";
        }
        return (round == null ? "no tenure of " : "request " + round.request.sequence() + " of ") + session;
    }
}
