package dev.interlock.internal.lock.quorum;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.FencingTokens;
import dev.interlock.internal.lock.Tenure;
import dev.interlock.internal.lock.quorum.QuorumScripts.Kept;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Settings;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.QuorumNode;
import dev.interlock.internal.session.QuorumSession;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
final class QuorumTenure implements Tenure {
    /** A lease so short may be over before the lease renewer comes by. */
    private static final long SHORT_MILLIS = 3_000;

    /** What is known of the vote of one node. */
    private static final class NodeVote {
        /** The token drawn with the vote, 0 if there is none. */
        private long token;

        /** Whether it is counted on. */
        private boolean counts;

        private long untilNanos;
    }

    private final QuorumSession session;
    private final Settings settings;
    private final QuorumScripts scripts;
    private final QuorumLock lock;
    private final List<QuorumNode> nodes;
    private final int majority;

    @GuardedBy("this")
    private final List<NodeVote> votes = new ArrayList<>();

    final long sequence;
    final long leaseMillis;
    final boolean renewed;
    final long startNanos;
    final FencingTokens tokens;
    private final Lease lease;
    private volatile boolean ended;

    @GuardedBy("this")
    private long renewAtNanos;

    @GuardedBy("this")
    private @Nullable Renewal renewal;

    QuorumTenure(QuorumSession session, QuorumScripts scripts, QuorumLock lock, VoteRound round, long remoteToken) {
        this.session = session;
        this.settings = session.settings();
        this.scripts = scripts;
        this.lock = lock;
        this.nodes = session.nodes();
        this.majority = session.majority();
        nodes.forEach(node -> votes.add(new NodeVote()));
        this.sequence = round.request.sequence();
        this.leaseMillis = round.request.leaseMillis();
        this.renewed = round.request.renewed();
        this.startNanos = session.now();
        this.tokens = new FencingTokens(remoteToken);
        this.lease = new Lease(settings, startNanos - 1);
        // A node that has not voted is asked again soon: until it has, there is one less that may fail.
        this.renewAtNanos = startNanos + lease.retryNanos();
    }

    /** A node has voted before the tenure began. */
    synchronized void votedAtFirst(int node, long token, long untilNanos) {
        NodeVote vote = votes.get(node);
        vote.token = token;
        vote.counts = true;
        vote.untilNanos = untilNanos;
        lease.setValidUntil(validUntil());
        if (counted() == nodes.size()) {
            renewAtNanos = startNanos + lease.renewalNanos();
        }
        if (!renewed && leaseMillis < SHORT_MILLIS && counted() == majority) {
            session.schedule(this::expire, leaseMillis);
        }
    }

    /** A node has voted after the tenure began. */
    synchronized void votedLate(int node, long token) {
        NodeVote vote = votes.get(node);
        if (!vote.counts) {
            vote.token = token;
        }
    }

    @Override
    public boolean isUsable(long nowNanos) {
        return lease.isValid(nowNanos);
    }

    /** It is given up: from now on it can't be lost any more. */
    void end() {
        ended = true;
    }

    @GuardedBy("this")
    private int counted() {
        return (int) votes.stream().filter(vote -> vote.counts).count();
    }

    /** Returns until when a majority can be counted on. */
    @GuardedBy("this")
    private long validUntil() {
        long now = session.now();
        return votes.stream()
                .filter(vote -> vote.counts)
                .map(vote -> vote.untilNanos)
                .sorted(Comparator.comparingLong(until -> now - until))
                .skip(majority - 1L)
                .findFirst()
                .orElse(now - 1);
    }

    // ---- renewal

    /** Notices a lease that is over soon, and renews it when that is due. */
    void keep(long now) {
        if (lease.loss() != null) {
            return;
        }
        // Between two beats would be too late to tell of a loss that can be foreseen.
        long leftMillis = TimeUnit.NANOSECONDS.toMillis(lease.validUntilNanos() - now);
        if (leftMillis < SHORT_MILLIS) {
            session.schedule(this::expire, Math.max(0, leftMillis + 1));
        }
        Renewal due;
        synchronized (this) {
            if (!renewed || ended || renewal != null || now - renewAtNanos < 0 || !isUsable(now)) {
                return;
            }
            due = new Renewal(now);
            renewal = due;
        }
        due.begin();
    }

    /** A renewal at all nodes. Nodes that it finds missing count until it ends, when all that can answer have. */
    private final class Renewal {
        private final long sentNanos;

        @GuardedBy("QuorumTenure.this")
        private int answered;

        @GuardedBy("QuorumTenure.this")
        private int kept;

        @GuardedBy("QuorumTenure.this")
        private boolean over;

        @GuardedBy("QuorumTenure.this")
        private final List<Integer> missing = new ArrayList<>();

        @GuardedBy("QuorumTenure.this")
        private @Nullable Throwable failure;

        Renewal(long sentNanos) {
            this.sentNanos = sentNanos;
        }

        void begin() {
            for (int i = 0; i < nodes.size(); i++) {
                int node = i;
                scripts.renew(nodes.get(node), sequence, leaseMillis, tokens.remotePart())
                        .whenComplete((answer, thrown) -> answered(node, answer, thrown));
            }
            session.schedule(this::end, TimeUnit.NANOSECONDS.toMillis(patienceNanos()) + 1);
        }

        private void answered(int node, @Nullable Kept answer, @Nullable Throwable thrown) {
            boolean isLast;
            synchronized (QuorumTenure.this) {
                answered++;
                isLast = answered == nodes.size();
                if (answer == null) {
                    failure = thrown == null ? failure : Failures.cause(thrown);
                } else {
                    take(node, answer);
                }
            }
            if (isLast) {
                end();
            }
        }

        @GuardedBy("QuorumTenure.this")
        private void take(int node, Kept answer) {
            NodeVote vote = votes.get(node);
            if (answer.owned() && answer.token() == vote.token) {
                long until = Lease.validUntil(sentNanos, answer.ttlMillis());
                // What was over in between may have had other owners.
                if (isUsable(session.now())) {
                    vote.untilNanos = vote.counts ? Lease.later(vote.untilNanos, until) : until;
                    vote.counts = true;
                    kept++;
                    lease.extendTo(validUntil());
                }
                return;
            }
            if (over) {
                miss(node);
            } else {
                missing.add(node);
            }
            // Of a new vote only the next renewal can tell that it lasts.
            vote.token = answer.owned() ? answer.token() : 0;
        }

        @GuardedBy("QuorumTenure.this")
        private void miss(int node) {
            votes.get(node).counts = false;
            lease.setValidUntil(validUntil());
        }

        private void end() {
            int found;
            boolean isLost;
            Throwable cause;
            synchronized (QuorumTenure.this) {
                if (over) {
                    return;
                }
                over = true;
                renewal = null;
                missing.forEach(this::miss);
                found = kept;
                isLost = counted() < majority;
                cause = failure;
                boolean isWhole = found == nodes.size() || (found >= majority && missing.isEmpty() && cause == null);
                renewAtNanos = sentNanos + (found < majority || !isWhole ? lease.retryNanos() : lease.renewalNanos());
            }
            report(found, isLost, cause);
        }

        private void report(int found, boolean isLost, @Nullable Throwable cause) {
            long left = lease.validUntilNanos() - session.now();
            if (ended) {
                return;
            }
            if (isLost) {
                lose("no majority of the nodes knows this owner any more");
            } else if (found >= majority) {
                session.renewer().renewed(lock.name(), left);
            } else {
                Throwable known = cause == null ? new IllegalStateException("no answer") : cause;
                session.renewer().renewalFailed(lock.name(), left, known);
            }
        }
    }

    // Several must fit into what is left of a lease after a third of it.
    private long patienceNanos() {
        return Math.min(settings.silenceNanos(), lease.renewalNanos() / 3);
    }

    // ---- loss

    private void expire() {
        if (!ended && !isUsable(session.now()) && lease.loss() == null) {
            lose("its lease is over");
        }
    }

    @Override
    public LeaseLostException lose(String reason) {
        LeaseLostException news = new LeaseLostException(lock.name(), tokens.current(), reason);
        LeaseLostException known = lease.lose(news);
        if (known != null) {
            return known;
        }
        lock.lost(news);
        return news;
    }

    /** Returns how many nodes it counts on. */
    synchronized int strength() {
        return counted();
    }
}
