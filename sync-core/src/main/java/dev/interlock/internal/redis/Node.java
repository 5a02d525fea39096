package dev.interlock.internal.redis;

import dev.interlock.internal.redis.Mailbox.Message;
import dev.interlock.internal.redis.Script.Call;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisTimeoutException;

/** A Redis as a session uses it: what runs scripts there, and the mailbox that it has there. */
public final class Node {
    private final RedissonClient client;
    /** A server that has gone silent gets no more at a time: each takes a connection until it is given up. */
    private static final int MOST_UNANSWERED = 8;

    private final Outage outage;
    private final ScriptRunner runner;
    private final Mailbox mailbox;
    private final Backlog backlog;
    private final AtomicInteger unanswered = new AtomicInteger();

    /** Describes a Redis. */
    public Node(
            RedissonClient client,
            String session,
            Settings settings,
            Outage outage,
            AnswerSpinner spinner,
            Consumer<Message> receiver,
            Runnable connected,
            Backlog backlog) {
        this.client = client;
        this.outage = outage;
        this.runner = new ScriptRunner(client, settings, outage, spinner);
        this.mailbox = new Mailbox(client, session, receiver, connected);
        this.backlog = backlog;
    }

    /** Returns the client. */
    public RedissonClient client() {
        return client;
    }

    /** Returns what runs scripts there. */
    public ScriptRunner runner() {
        return runner;
    }

    /** Returns the mailbox that the session has there. */
    public Mailbox mailbox() {
        return mailbox;
    }

    /** Returns what it has yet to confirm. */
    public Backlog backlog() {
        return backlog;
    }

    /** Runs a script there, once; fails at once if the server has been silent for others who wait yet. */
    public CompletableFuture<List<Object>> run(Call call) {
        if (outage.isActive() && unanswered.get() >= MOST_UNANSWERED) {
            return CompletableFuture.failedFuture(new RedisTimeoutException("the node is silent"));
        }
        unanswered.incrementAndGet();
        return runner.run(call).whenComplete((reply, failure) -> unanswered.decrementAndGet());
    }
}
