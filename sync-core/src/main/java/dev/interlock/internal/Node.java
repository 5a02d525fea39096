package dev.interlock.internal;

import dev.interlock.internal.Mailbox.Message;
import dev.interlock.internal.Script.Call;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.redisson.api.RedissonClient;

/** A Redis as a session uses it: what runs scripts there, and the mailbox that it has there. */
public final class Node {
    private final RedissonClient client;
    private final ScriptRunner runner;
    private final Mailbox mailbox;

    Node(
            RedissonClient client,
            String session,
            Settings settings,
            Outage outage,
            Consumer<Message> receiver,
            Runnable connected) {
        this.client = client;
        this.runner = new ScriptRunner(client, settings, outage);
        this.mailbox = new Mailbox(client, session, receiver, connected);
    }

    RedissonClient client() {
        return client;
    }

    ScriptRunner runner() {
        return runner;
    }

    Mailbox mailbox() {
        return mailbox;
    }

    /** Runs a script there, once. */
    public CompletableFuture<List<Object>> run(Call call) {
        return runner.run(call);
    }
}
