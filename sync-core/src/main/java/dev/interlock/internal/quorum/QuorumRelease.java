package dev.interlock.internal.quorum;

import dev.interlock.internal.quorum.QuorumScripts.Released;
import dev.interlock.internal.quorum.QuorumState.Unreleased;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The command that releases at all nodes what a sequence and those before it own, or may yet get by a command that is
 * on its way. It is repeated until the node has confirmed it, or no lease that was asked for can last any longer. All
 * but its futures is used with the mutex of the lock only.
 */
final class QuorumRelease {
    /** What a majority of the nodes has answered. */
    enum Verdict {
        /** The session owned the name until then. */
        OWNED,
        /** It didn't. */
        LOST
    }

    /** The release at one node. */
    private static final class NodeRelease {
        private long sentNanos;
        private boolean isInFlight;
        private boolean isOver;

        /** Sent while the session was being closed, which doesn't wait for another attempt. */
        private boolean isLast;
    }

    final long sequence;
    final long leaseMillis;

    /** Completes when it is known whether the session owned the name; fails if that can't be known. */
    final CompletableFuture<Verdict> verdict = new CompletableFuture<>();

    /** Completes when all nodes have confirmed it, or it isn't worthwhile any more. */
    final CompletableFuture<Void> everywhere = new CompletableFuture<>();

    private final long deadlineNanos;
    private final List<NodeRelease> nodes;
    private final int majority;

    /** Whether a later release includes this one. */
    private boolean superseded;

    private int owned;
    private int lost;
    private int over;
    private long waiters;

    QuorumRelease(Unreleased requests, int nodes, int majority, long nowNanos) {
        this.sequence = requests.sequence();
        this.leaseMillis = requests.leaseMillis();
        this.deadlineNanos = nowNanos + TimeUnit.MILLISECONDS.toNanos(leaseMillis);
        this.nodes = Stream.generate(NodeRelease::new).limit(nodes).toList();
        this.majority = majority;
    }

    /** Returns for how long it may have to be repeated yet; 0 if it is done. */
    long leaseLeftMillis(long now) {
        return everywhere.isDone() ? 0 : Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - now));
    }

    /**
     * Returns a release of what came later, too: a node that is away for long has one to be told of, not one for each
     * tenure.
     */
    QuorumRelease including(Unreleased later, long now) {
        superseded = true;
        long millis = Math.max(later.leaseMillis(), leaseLeftMillis(now));
        return new QuorumRelease(new Unreleased(later.sequence(), millis), nodes.size(), majority, now);
    }

    /** Returns whether other sessions wait, as far as is known. */
    boolean isWaitedFor() {
        return waiters > 0;
    }

    private boolean isWorthwhile(long now) {
        return now - deadlineNanos < 0;
    }

    /** Returns whether a node needn't be sent it any more. */
    boolean isOver(int node, long now) {
        if (superseded || !isWorthwhile(now)) {
            end();
        }
        return nodes.get(node).isOver || everywhere.isDone();
    }

    /** Returns whether a node has answered the last attempt, or has been silent for that long. */
    boolean isDue(int node, long now, long silenceNanos) {
        NodeRelease at = nodes.get(node);
        return !at.isInFlight || now - at.sentNanos >= silenceNanos;
    }

    /** It is sent to a node. */
    void sent(int node, long now, boolean closing) {
        NodeRelease at = nodes.get(node);
        at.sentNanos = now;
        at.isInFlight = true;
        at.isLast = closing;
    }

    /**
     * A node has answered, or has failed.
     *
     * @return whether it is settled at the node: false if it has to be repeated there, or was settled before
     */
    boolean answered(int node, @Nullable Released released, long now) {
        NodeRelease at = nodes.get(node);
        at.isInFlight = false;
        if (at.isOver || (released == null && !at.isLast && isWorthwhile(now))) {
            return false;
        }
        if (released != null) {
            waiters = Math.max(waiters, released.waiters());
            owned += released.owned() ? 1 : 0;
            lost += released.owned() ? 0 : 1;
        }
        at.isOver = true;
        over++;
        if (owned >= majority) {
            verdict.complete(Verdict.OWNED);
        } else if (lost > nodes.size() - majority) {
            verdict.complete(Verdict.LOST);
        }
        if (over == nodes.size()) {
            end();
        }
        return true;
    }

    private void end() {
        verdict.completeExceptionally(new IllegalStateException("no majority has confirmed it"));
        everywhere.complete(null);
    }
}
