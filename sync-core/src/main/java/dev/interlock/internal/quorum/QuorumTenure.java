package dev.interlock.internal.quorum;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.quorum.QuorumEffect.Expire;
import dev.interlock.internal.quorum.QuorumEffect.Lost;
import dev.interlock.internal.quorum.QuorumEffect.Report;
import dev.interlock.internal.quorum.QuorumScripts.Kept;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Effects;
import dev.interlock.internal.session.Lease;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The interval in which a session owns a name at a majority of nodes. Each of these is counted on until a local time
 * that lies safely before the end of its lease there; the tenure is valid as long as a majority can be counted on.
 *
 * <p>Renewals go to all nodes. One that nobody owns the name at votes anew, so that a node which was away or has lost
 * its data counts again. But not at once: in between, it may have voted for somebody else. It counts when the next
 * renewal finds the same vote there (told by the token that was drawn with it), as long as the others have been a
 * majority until then.
 */
final class QuorumTenure extends Tenure {
    /** A lease so short may be over before the lease renewer comes by. */
    private static final long SHORT_MILLIS = 3_000;

    /** What is known of the vote of one node. */
    private static final class NodeVote {
        /** The token drawn with the vote, 0 if there is none. */
        private long token;

        /** Whether it is counted on. */
        private boolean counts;

        /** When the node was asked that has told so. */
        private long sentNanos;

        /** Until when it can be counted on by the ticker, if it is. */
        private long untilNanos;
    }

    private final String name;
    private final int majority;
    private final Effects<QuorumEffect> effects;
    private final Settings settings;
    private final List<NodeVote> votes;
    final long sequence;
    final long leaseMillis;

    /** When its lease is over at the nodes, once it is lost. Written before the loss is. */
    private long freeNanos;

    final boolean renewed;
    final long startNanos;
    final FencingTokens tokens;
    private final Lease lease;
    /** Whether it is given up, so that it is neither renewed nor lost any more. */
    private boolean ended;

    /** Whether a timer runs that looks whether the lease is over. */
    private boolean isExpiring;

    /** When the next renewal is due, if it is {@link #renewed}. */
    private long renewAtNanos;

    /** The last one, until it is over. */
    private @Nullable Renewal renewal;

    /** Makes a tenure of a round that is won. */
    QuorumTenure(String name, Settings settings, VoteRound round, long nowNanos, Effects<QuorumEffect> effects) {
        this.name = name;
        this.majority = round.majority;
        this.effects = effects;
        this.settings = settings;
        this.votes = Stream.generate(NodeVote::new).limit(round.nodes).toList();
        this.sequence = round.request.sequence();
        this.leaseMillis = round.request.leaseMillis();
        this.renewed = round.request.renewed();
        this.startNanos = nowNanos;
        this.tokens = new FencingTokens(round.token());
        round.forEachVote((node, vote) -> {
            NodeVote at = votes.get(node);
            at.token = vote.token();
            at.counts = true;
            at.sentNanos = round.sentNanos;
            at.untilNanos = Lease.validUntil(round.sentNanos, vote.ttlMillis());
        });
        this.lease = new Lease(settings.suspensions(), round.sentNanos, validUntil());
        // A node that has not voted is asked again soon: until it has, there is one less that may fail.
        boolean isWhole = strength() == round.nodes;
        this.renewAtNanos = startNanos + (isWhole ? settings.renewalNanos() : settings.retryNanos());
    }

    /** A node has voted after the tenure began. */
    void votedLate(int node, long token) {
        NodeVote vote = votes.get(node);
        if (!vote.counts) {
            vote.token = token;
        }
    }

    @Override
    public boolean isUsable(long nowNanos) {
        return lease.isValid(nowNanos);
    }

    @Override
    protected boolean draw() {
        return tokens.draw();
    }

    @Override
    public boolean isOver(long nowNanos) {
        return lease.isOver(nowNanos);
    }

    /** It is given up: from now on it can't be lost any more. */
    void end() {
        ended = true;
    }

    /** Returns how many nodes it counts on. */
    int strength() {
        return (int) votes.stream().filter(vote -> vote.counts).count();
    }

    /** Returns until when a majority can be counted on by the ticker. */
    private long validUntil() {
        return votes.stream()
                .filter(vote -> vote.counts)
                .map(vote -> vote.untilNanos)
                .sorted(Comparator.comparingLong(until -> startNanos - until))
                .skip(majority - 1L)
                .findFirst()
                .orElse(startNanos - 1);
    }

    // Redis was asked for the vote after the machine was last suspended.
    private boolean isCertain(NodeVote vote) {
        return vote.counts && !settings.suspensions().putInDoubt(vote.sentNanos);
    }

    // ---- renewal

    /** It begins: one whose lease is short and not renewed may be over before the lease renewer comes by. */
    void begin() {
        if (!renewed && leaseMillis < SHORT_MILLIS) {
            expireIn(leaseMillis);
        }
    }

    private void expireIn(long millis) {
        isExpiring = true;
        effects.add(new Expire(this, millis));
    }

    /** Notices a lease that is over soon. Returns the renewal if one is due, which goes to all nodes. */
    @Nullable
    Renewal keep(long now) {
        if (lease.loss() != null) {
            return null;
        }
        // Between two beats would be too late to tell of a loss that can be foreseen.
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(lease.validUntilNanos() - now);
        if (leftMillis < SHORT_MILLIS && !isExpiring) {
            expireIn(Math.max(0, leftMillis + 1));
        }
        boolean isDue = renewed && now - renewAtNanos >= 0;
        return (isDue || lease.isInDoubt()) && renewal == null ? renew(now) : null;
    }

    /** Returns a renewal, unless there is nothing to renew. It goes to all nodes. */
    @Nullable
    Renewal renew(long now) {
        if (ended || isOver(now)) {
            return null;
        }
        renewal = new Renewal(now);
        return renewal;
    }

    /** Returns the lease that a renewal asks for: 0 for one of a fixed length, of which it tells how much is left. */
    long renewedMillis() {
        return renewed ? leaseMillis : 0;
    }

    /** Returns for how long the answers to a renewal are waited for: several must fit into what is left of a lease. */
    long patienceNanos() {
        return Math.min(settings.silenceNanos(), settings.renewalNanos() / 3);
    }

    /** A renewal at all nodes. Nodes that it finds missing count until it ends, when all that can answer have. */
    final class Renewal {
        private final long sentNanos;
        /** Nodes that have another vote or none, until it is over. */
        private final List<Integer> missing = new ArrayList<>();

        /** How many nodes have answered or failed. */
        private int answered;

        /** How many of them have kept their vote. */
        private int kept;

        /** The failure of the last node that failed. */
        private @Nullable Throwable failure;

        Renewal(long sentNanos) {
            this.sentNanos = sentNanos;
        }

        private boolean isOver() {
            return renewal != this;
        }

        /**
         * A node has answered, or has failed. Returns whether the tenure isn't in doubt any more: a majority has kept
         * it, or the renewal is over.
         */
        boolean answered(int node, @Nullable Kept answer, @Nullable Throwable thrown, long now) {
            answered++;
            assert answered <= votes.size() : "a node answers once";
            boolean isCertain = answer != null && take(node, answer, now);
            if (thrown != null) {
                failure = Failures.cause(thrown);
            }
            if (answered == votes.size()) {
                end(now);
            }
            return isCertain || answered == votes.size();
        }

        private boolean take(int node, Kept answer, long now) {
            NodeVote vote = votes.get(node);
            if (answer.owned() && answer.token() == vote.token) {
                // What was over in between may have had other owners.
                if (lease.isOver(now)) {
                    return false;
                }
                long until = Lease.validUntil(sentNanos, answer.ttlMillis());
                vote.untilNanos = isCertain(vote) ? Lease.later(vote.untilNanos, until) : until;
                vote.sentNanos = sentNanos;
                vote.counts = true;
                kept++;
                extend();
                return !lease.isInDoubt();
            }
            if (isOver()) {
                miss(node);
            } else {
                missing.add(node);
            }
            // Of a new vote only the next renewal can tell that it lasts.
            vote.token = answer.owned() ? answer.token() : 0;
            return false;
        }

        private void extend() {
            if (votes.stream().filter(QuorumTenure.this::isCertain).count() >= majority) {
                // Those that are in doubt don't count before they have answered, too.
                votes.forEach(vote -> vote.counts = isCertain(vote));
                lease.extendTo(sentNanos, validUntil());
            }
        }

        private void miss(int node) {
            votes.get(node).counts = false;
            lease.setValidUntil(validUntil());
        }

        /** All nodes have answered, or have had the time for it. */
        void end(long now) {
            if (!isOver()) {
                conclude(now);
            }
        }

        private void conclude(long now) {
            renewal = null;
            missing.forEach(this::miss);
            boolean isWhole = kept >= majority && missing.isEmpty() && failure == null;
            renewAtNanos = sentNanos + (isWhole ? settings.renewalNanos() : settings.retryNanos());
            if (ended) {
                return;
            }
            if (strength() < majority) {
                lose("no majority of the nodes knows this owner any more", now);
                return;
            }
            Throwable cause = failure == null ? new IllegalStateException("no answer") : failure;
            effects.add(new Report(lease.validUntilNanos() - now, kept >= majority ? null : cause));
        }
    }

    // ---- loss

    /** Its lease may be over. */
    void expire(long now) {
        isExpiring = false;
        if (!ended && lease.loss() == null && isOver(now)) {
            lose("its lease is over", now);
        }
    }

    @Override
    public long token() {
        return tokens.current();
    }

    @Override
    public @Nullable LeaseLostException loss() {
        return lease.loss();
    }

    @Override
    protected long freeNanos() {
        return freeNanos;
    }

    /** Marks it lost, and has the lock hear of it the first time. Returns the loss. */
    LeaseLostException lose(String reason, long now) {
        LeaseLostException known = lease.loss();
        if (known != null) {
            return known;
        }
        LeaseLostException news = new LeaseLostException(name, tokens.current(), reason);
        freeNanos = lease.freeNanos(now, leaseMillis);
        lease.lose(news);
        effects.add(new Lost(news));
        return news;
    }
}
