package dev.interlock.internal.lock.quorum;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.lock.quorum.QuorumScripts.Kept;
import dev.interlock.internal.lock.quorum.QuorumScripts.Status;
import dev.interlock.internal.lock.quorum.QuorumScripts.Vote;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.Lease;
import dev.interlock.internal.session.QuorumNode;
import dev.interlock.internal.session.QuorumSession;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
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
    /**
     * What nodes are asked.
     *
     * @param renewed whether the lease is to be renewed
     * @param waits whether the session goes on waiting if it is refused
     * @param floor the least token
     */
    record Request(long sequence, long leaseMillis, boolean renewed, boolean waits, long floor) {}

    private final QuorumSession session;
    private final QuorumScripts scripts;
    private final Runnable changed;
    private final List<QuorumNode> nodes;
    private final int majority;

    final Request request;
    private final long sentNanos;

    /** Answers by node. */
    @GuardedBy("this")
    private final Map<Integer, Vote> votes = new HashMap<>();

    @GuardedBy("this")
    private final Map<Integer, Long> validUntilNanos = new HashMap<>();

    /** Nodes that can't be counted on any more. */
    @GuardedBy("this")
    private int failed;

    @GuardedBy("this")
    private int confirmed;

    /** The greatest token among a majority of votes; 0 until there is one. */
    @GuardedBy("this")
    private long token;

    @GuardedBy("this")
    private boolean expired;

    @GuardedBy("this")
    private boolean cutShort;

    @GuardedBy("this")
    private boolean abandoned;

    @GuardedBy("this")
    private boolean reported;

    @GuardedBy("this")
    private @Nullable Throwable failure;

    /** At how many nodes it has failed by what no repeat will mend, and what that is. */
    @GuardedBy("this")
    private int lasting;

    @GuardedBy("this")
    private @Nullable Throwable refusal;

    @GuardedBy("this")
    private @Nullable QuorumTenure tenure;

    /**
     * Prepares a round.
     *
     * @param changed runs when an answer has come
     */
    VoteRound(QuorumSession session, QuorumScripts scripts, Request request, Runnable changed) {
        this.session = session;
        this.scripts = scripts;
        this.changed = changed;
        this.nodes = session.nodes();
        this.majority = session.majority();
        this.request = request;
        this.sentNanos = session.now();
    }

    long sentNanos() {
        return sentNanos;
    }

    void begin() {
        for (int i = 0; i < nodes.size(); i++) {
            int node = i;
            scripts.acquire(nodes.get(node), request).whenComplete((vote, thrown) -> answered(node, vote, thrown));
        }
    }

    private void answered(int node, @Nullable Vote vote, @Nullable Throwable thrown) {
        QuorumTenure late;
        boolean unwanted;
        synchronized (this) {
            if (vote == null) {
                failed(thrown);
            } else {
                votes.put(node, vote);
                if (vote.status() == Status.VOTED) {
                    validUntilNanos.put(node, Lease.validUntil(sentNanos, vote.ttlMillis()));
                }
                count(node, vote);
            }
            if (!reported && votes.size() >= majority) {
                reported = true;
                session.outage().heard();
            }
            late = vote == null ? null : tenure;
            unwanted = abandoned && vote != null && vote.status() == Status.VOTED;
        }
        if (late != null && vote != null && vote.status() == Status.VOTED) {
            late.votedLate(node, vote.token());
        }
        if (unwanted) {
            giveUp(node);
        }
        changed.run();
    }

    @GuardedBy("this")
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

    @GuardedBy("this")
    private void count(int node, Vote vote) {
        if (expired || vote.status() != Status.VOTED) {
            return;
        }
        if (token == 0) {
            if (granted() >= majority) {
                token = greatestToken();
                votes.forEach(this::confirm);
            }
        } else {
            confirm(node, vote);
        }
    }

    @GuardedBy("this")
    private void confirm(int node, Vote vote) {
        if (vote.status() != Status.VOTED) {
            return;
        }
        if (vote.token() >= token) {
            confirmed++;
            return;
        }
        long millis = request.renewed ? request.leaseMillis : 0;
        scripts.renew(nodes.get(node), request.sequence, millis, token)
                .whenComplete((kept, thrown) -> wroteBack(vote, kept, thrown));
    }

    private void wroteBack(Vote vote, @Nullable Kept kept, @Nullable Throwable thrown) {
        synchronized (this) {
            if (kept == null) {
                failed(thrown);
            } else if (kept.owned() && kept.token() == vote.token()) {
                confirmed++;
            } else {
                failed++;
            }
        }
        changed.run();
    }

    @GuardedBy("this")
    private int granted() {
        return (int) votes.values().stream()
                .filter(vote -> vote.status() == Status.VOTED)
                .count();
    }

    /** Returns the greatest token that a node has drawn for this round. */
    synchronized long greatestToken() {
        return votes.values().stream().mapToLong(Vote::token).max().orElse(0);
    }

    /** Returns whether a majority has voted for this session and knows its token. */
    synchronized boolean isWon() {
        return token > 0 && confirmed >= majority;
    }

    /** Returns whether waiting for more answers is of no use. */
    synchronized boolean isDecided() {
        int minority = nodes.size() - majority;
        int refused = votes.size() - granted();
        boolean isLost = refused + failed > minority;
        // A round that is lost has been refused only if a majority answers.
        return isWon() || expired || (isLost && (votes.size() >= majority || failed > minority));
    }

    /** Returns whether a majority has answered, and some node that another session owns the name. */
    synchronized boolean isRefused() {
        return votes.size() >= majority && granted() < votes.size();
    }

    /**
     * The thread has stopped waiting for more answers.
     *
     * @param silent whether it has waited for as long as a node may take
     */
    synchronized void expire(boolean silent) {
        expired = true;
        cutShort = !silent;
    }

    /** Returns whether the thread had no time to wait for all answers. */
    synchronized boolean isCutShort() {
        return cutShort;
    }

    /** Returns what it has failed with, if it was an error. */
    synchronized @Nullable Throwable failure() {
        return failure;
    }

    /** Returns what no repeat will mend, if so many nodes have failed by that that a majority is impossible. */
    synchronized @Nullable Throwable refusal() {
        return lasting > nodes.size() - majority ? refusal : null;
    }

    /** Returns after how many ms the owner's lease is over, or -1 if no majority has the same one. */
    synchronized long ownerTtlMillis() {
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

    /** Makes a tenure of a round that is won, or returns null if that took too long. */
    @Nullable
    QuorumTenure win(QuorumLock lock) {
        synchronized (this) {
            QuorumTenure won = new QuorumTenure(session, scripts, lock, this, token);
            votes.forEach((node, vote) -> {
                Long until = validUntilNanos.get(node);
                if (until != null) {
                    won.votedAtFirst(node, vote.token(), until);
                }
            });
            if (!won.isUsable(session.now())) {
                return null;
            }
            tenure = won;
            return won;
        }
    }

    /** Gives back the votes that it has got or gets yet, because they are too few. The session will ask again. */
    void abandon() {
        List<Integer> unwanted;
        synchronized (this) {
            abandoned = true;
            expired = true;
            unwanted = votes.entrySet().stream()
                    .filter(vote -> vote.getValue().status() == Status.VOTED)
                    .map(Map.Entry::getKey)
                    .toList();
        }
        unwanted.forEach(this::giveUp);
    }

    // Sent once: the next round implies it, and so does the end of the wait.
    private void giveUp(int node) {
        scripts.release(nodes.get(node), request.sequence, request.leaseMillis, false);
    }

    /** Returns for how long the answers are waited for: short beside the lease, which runs meanwhile. */
    static long patienceNanos(QuorumSession session, long leaseMillis) {
        long third = TimeUnit.MILLISECONDS.toNanos(leaseMillis) / 3;
        return Math.min(session.settings().silenceNanos(), third);
    }
}
