package dev.interlock.internal.quorum;

import dev.interlock.internal.quorum.QuorumEffect.GiveUp;
import dev.interlock.internal.quorum.QuorumEffect.Heard;
import dev.interlock.internal.quorum.QuorumEffect.Wake;
import dev.interlock.internal.quorum.QuorumEffect.WriteBack;
import dev.interlock.internal.quorum.QuorumScripts.Kept;
import dev.interlock.internal.quorum.QuorumScripts.Status;
import dev.interlock.internal.quorum.QuorumScripts.Vote;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Effects;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to get a majority: all nodes are asked at the same time, and it is decided as soon as those are enough
 * that have answered, whatever the others do.
 *
 * <p>Each node votes by a token that it draws. The token of the tenure is the greatest of them; nobody may enter before
 * a majority of nodes knows it, and owns the name for this session while it learns it. Since that majority and the next
 * one have a node in common, the next token is greater. So there is a second phase, in which the token is written back
 * to those that have drawn a smaller one, unless a majority has drawn that very token, as is the rule while nothing
 * goes wrong.
 */
final class VoteRound {
    /** The longest time between two rounds. */
    private static final long POLL_MILLIS = 1_000;

    /** Upper bound of the random wait after the first round without a winner; it doubles with each further one. */
    private static final long BACKOFF_NANOS = TimeUnit.MILLISECONDS.toNanos(4);

    private static final int MOST_DOUBLINGS = 6;

    /**
     * What nodes are asked.
     *
     * @param renewed whether the lease is to be renewed
     * @param waits whether the session goes on waiting if it is refused
     * @param floor the least token
     */
    record Request(long sequence, long leaseMillis, boolean renewed, boolean waits, long floor) {}

    /**
     * How a round that was not won has ended.
     *
     * @param refused whether a majority has answered, and some node that another session owns the name
     * @param cutShort whether the thread had no time to wait for all answers
     * @param ownerTtlMillis after how many ms the owner's lease is over, or -1 if no majority has the same one
     * @param failure what it has failed with, if it was an error
     * @param refusal what no repeat will mend, if so many nodes have failed by that that a majority is impossible
     */
    record Defeat(
            boolean refused,
            boolean cutShort,
            long ownerTtlMillis,
            @Nullable Throwable failure,
            @Nullable Throwable refusal) {
        /** Returns for how long to wait before the next round unless nodes are freed. */
        long pauseNanos(int attempt, RandomGenerator random) {
            if (ownerTtlMillis < 0) {
                return 1 + random.nextLong(BACKOFF_NANOS << Math.min(attempt, MOST_DOUBLINGS));
            }
            long leaseNanos = TimeUnit.MILLISECONDS.toNanos(Math.min(ownerTtlMillis + 1, POLL_MILLIS));
            return leaseNanos + random.nextLong(BACKOFF_NANOS * 4);
        }
    }

    final Request request;
    final long sentNanos;
    final int nodes;
    final int majority;
    private final Effects<QuorumEffect> effects;

    /** Answers by node. */
    private final Map<Integer, Vote> votes = new HashMap<>();

    /** How many nodes can't be counted on any more: they have failed, or have lost their vote. */
    private int failed;

    /** How many nodes have voted for this session and know its {@link #token}. */
    private int confirmed;

    /** The greatest token among a majority of votes; 0 until there is one. */
    private long token;

    /** Whether the thread doesn't wait for answers any more. Votes that come later don't count. */
    private boolean expired;

    /** Whether it {@link #expired} before all nodes had had the time to answer. */
    private boolean cutShort;

    /** Whether its votes are given back. Then it has {@link #expired}. */
    private boolean abandoned;

    /** What it has failed by first, if that was an error. */
    private @Nullable Throwable failure;

    /** At how many nodes it has failed by what no repeat will mend. */
    private int lasting;

    /** What that is. */
    private @Nullable Throwable refusal;

    VoteRound(Request request, int nodes, int majority, long sentNanos, Effects<QuorumEffect> effects) {
        this.request = request;
        this.nodes = nodes;
        this.majority = majority;
        this.sentNanos = sentNanos;
        this.effects = effects;
    }

    /** Returns for how long the answers are waited for: short beside the lease, which runs meanwhile. */
    static long patienceNanos(Settings settings, long leaseMillis) {
        return Math.min(settings.silenceNanos(), TimeUnit.MILLISECONDS.toNanos(leaseMillis) / 3);
    }

    // ---- events

    /** A node has answered, or has failed. */
    void answered(int node, @Nullable Vote vote, @Nullable Throwable thrown) {
        if (vote == null) {
            failed(thrown);
        } else {
            votes.put(node, vote);
            if (vote.status() == Status.VOTED) {
                voted(node, vote);
            }
            if (votes.size() == majority) {
                effects.add(new Heard());
            }
        }
        effects.add(new Wake());
    }

    private void voted(int node, Vote vote) {
        if (abandoned) {
            effects.add(new GiveUp(this, node));
        } else if (token > 0 && !expired) {
            confirm(node, vote);
        } else if (granted() >= majority && !expired) {
            token = greatestToken();
            forEachVote(this::confirm);
        }
    }

    private void failed(@Nullable Throwable thrown) {
        failed++;
        if (thrown == null) {
            return;
        }
        failure = failure == null ? Failures.cause(thrown) : failure;
        if (!Failures.isTransient(thrown)) {
            lasting++;
            refusal = Failures.cause(thrown);
        }
    }

    private void confirm(int node, Vote vote) {
        if (vote.token() >= token) {
            confirm();
        } else {
            effects.add(new WriteBack(this, node));
        }
    }

    private void confirm() {
        confirmed++;
        assert confirmed <= granted() : "a node knows the token of its vote once";
    }

    /** A node has answered that the token was written back, or has failed. */
    void wroteBack(int node, @Nullable Kept kept, @Nullable Throwable thrown) {
        Vote vote = votes.get(node);
        if (kept == null) {
            failed(thrown);
        } else if (vote != null && kept.owned() && kept.token() == vote.token()) {
            confirm();
        } else {
            failed++;
        }
        effects.add(new Wake());
    }

    /**
     * The thread has stopped waiting for more answers.
     *
     * @param silent whether it has waited for as long as a node may take
     */
    void expire(boolean silent) {
        expired = true;
        cutShort = !silent;
    }

    /** Gives back the votes that it has got or gets yet, because they are too few. The session will ask again. */
    Defeat abandon() {
        abandoned = true;
        expired = true;
        forEachVote((node, vote) -> effects.add(new GiveUp(this, node)));
        boolean refused = votes.size() >= majority && granted() < votes.size();
        return new Defeat(refused, cutShort, ownerTtlMillis(), failure, lasting > nodes - majority ? refusal : null);
    }

    // ---- questions

    /** Calls the action for each node that has voted for this session. */
    void forEachVote(BiConsumer<Integer, Vote> action) {
        votes.forEach((node, vote) -> {
            if (vote.status() == Status.VOTED) {
                action.accept(node, vote);
            }
        });
    }

    private int granted() {
        return (int) votes.values().stream()
                .filter(vote -> vote.status() == Status.VOTED)
                .count();
    }

    /** Returns the greatest token that a node has drawn for this round. */
    long greatestToken() {
        return votes.values().stream().mapToLong(Vote::token).max().orElse(0);
    }

    /** Returns the token of a round that is won. */
    long token() {
        return token;
    }

    /** Returns whether a majority has voted for this session and knows its token. */
    boolean isWon() {
        return token > 0 && confirmed >= majority;
    }

    /** Returns whether waiting for more answers is of no use. */
    boolean isDecided() {
        int minority = nodes - majority;
        int refused = votes.size() - granted();
        boolean isLost = refused + failed > minority;
        // A round that is lost has been refused only if a majority answers.
        return isWon() || expired || (isLost && (votes.size() >= majority || failed > minority));
    }

    /** Returns what it has failed with, if it was an error. */
    @Nullable
    Throwable failure() {
        return failure;
    }

    private long ownerTtlMillis() {
        Map<String, Integer> counts = new HashMap<>();
        votes.values().stream()
                .filter(vote -> vote.status() == Status.REFUSED)
                .forEach(vote -> counts.merge(vote.owner(), 1, Integer::sum));
        return votes.values().stream()
                .filter(vote -> counts.getOrDefault(vote.owner(), 0) >= majority)
                .mapToLong(Vote::ttlMillis)
                .min()
                .orElse(-1);
    }
}
