package dev.interlock.internal.lock.quorum;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.session.QuorumNode;
import dev.interlock.internal.session.QuorumSession;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A question to all nodes: who owns the name? */
final class OwnerQuery {
    private final List<QuorumNode> nodes;
    private final int majority;
    private final CompletableFuture<Void> done = new CompletableFuture<>();

    /** How many nodes have named an owner, by the owner; empty for nobody. */
    @GuardedBy("this")
    private final Map<String, Integer> counts = new HashMap<>();

    @GuardedBy("this")
    private int answered;

    @GuardedBy("this")
    private int failed;

    private OwnerQuery(QuorumSession session) {
        this.nodes = session.nodes();
        this.majority = session.majority();
    }

    /** Asks, and waits for the answers, one command time-out at most. */
    static OwnerQuery of(QuorumSession session, QuorumScripts scripts) {
        OwnerQuery query = new OwnerQuery(session);
        query.nodes.forEach(node -> scripts.inspect(node).whenComplete((owner, failure) -> query.take(owner)));
        session.await(query.done);
        return query;
    }

    private void take(@Nullable String owner) {
        boolean isDone;
        synchronized (this) {
            if (owner == null) {
                failed++;
            } else {
                answered++;
                counts.merge(owner, 1, Integer::sum);
            }
            boolean isSettled = owner != null && counts.getOrDefault(owner, 0) >= majority;
            isDone = isSettled || answered + failed == nodes.size();
        }
        if (isDone) {
            done.complete(null);
        }
    }

    /** Returns whether a majority has answered. */
    synchronized boolean isKnown() {
        return answered >= majority;
    }

    /**
     * Returns whether one session owns the name at a majority of the nodes, or may own it there: the votes of silent
     * nodes may be its own.
     */
    synchronized boolean isOwned() {
        int silent = nodes.size() - answered;
        return counts.getOrDefault("", 0) < majority
                && counts.entrySet().stream()
                        .anyMatch(count -> !count.getKey().isEmpty() && count.getValue() + silent >= majority);
    }
}
