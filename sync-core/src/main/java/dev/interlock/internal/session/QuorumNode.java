package dev.interlock.internal.session;

import dev.interlock.internal.redis.Node;
import dev.interlock.internal.redis.Script.Call;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.redisson.client.RedisTimeoutException;

/** One of the independent servers of a quorum session. */
public final class QuorumNode {
    /** A server that has gone silent gets no more commands at a time: each takes a connection until it is given up. */
    private static final int MOST_UNANSWERED = 8;

    private final Node node;
    private final Backlog backlog;
    private final AtomicInteger unanswered = new AtomicInteger();

    QuorumNode(Node node, Backlog backlog) {
        this.node = node;
        this.backlog = backlog;
    }

    Node node() {
        return node;
    }

    /** Returns what the node has yet to confirm. */
    public Backlog backlog() {
        return backlog;
    }

    /** Runs a script there, once. Fails at once if the server has been silent and other commands wait for it. */
    public CompletableFuture<List<Object>> run(Call call) {
        if (node.outage().isActive() && unanswered.get() >= MOST_UNANSWERED) {
            return CompletableFuture.failedFuture(new RedisTimeoutException("the node is silent"));
        }
        unanswered.incrementAndGet();
        return node.runner().run(call).whenComplete((reply, failure) -> unanswered.decrementAndGet());
    }
}
