package dev.interlock.internal.quorum;

import dev.interlock.internal.redis.Failures;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A question to all nodes: who owns the name? */
final class OwnerQuery {
    private final int nodes;
    private final int majority;

    /** How many nodes have named an owner, by the owner; empty for nobody. */
    private final Map<String, Integer> counts = new HashMap<>();

    private int answered;
    private int failed;

    /** How many nodes refuse for good to answer, and why. */
    private int refused;

    private @Nullable Throwable refusal;

    /** Completes when further answers are of no use. */
    final CompletableFuture<Void> done = new CompletableFuture<>();

    OwnerQuery(int nodes, int majority) {
        this.nodes = nodes;
        this.majority = majority;
    }

    /** A node has named the owner. */
    void answered(String owner) {
        answered++;
        counts.merge(owner, 1, Integer::sum);
        end();
    }

    /** A node has failed. */
    void failed(Throwable failure) {
        failed++;
        if (!Failures.isTransient(failure)) {
            refused++;
            refusal = failure;
        }
        end();
    }

    private void end() {
        if (counts.containsValue(majority) || answered + failed == nodes) {
            done.complete(null);
        }
    }

    /** Returns what no repeat will mend, if so many nodes have failed by that that a majority is impossible. */
    @Nullable
    Throwable refusal() {
        return refused > nodes - majority ? refusal : null;
    }

    /** Returns whether a majority has answered. */
    boolean isKnown() {
        return answered >= majority;
    }

    /**
     * Returns whether one session owns the name at a majority of the nodes, or may own it there: the votes of silent
     * nodes may be its own.
     */
    boolean isOwned() {
        int silent = nodes - answered;
        return counts.getOrDefault("", 0) < majority
                && counts.entrySet().stream()
                        .anyMatch(count -> !count.getKey().isEmpty() && count.getValue() + silent >= majority);
    }
}
