package dev.interlock.internal.redis;

import dev.interlock.internal.Names;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.redisson.api.RFuture;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.listener.StatusListener;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mailbox on a channel of Redisson's. */
public final class RedissonMailbox implements Mailbox {
    private static final Logger log = LoggerFactory.getLogger(RedissonMailbox.class);

    /** Prefix of a session's channel; scripts have it, too. */
    static final String CHANNEL = "interlock:mailbox:";

    private final RTopic topic;

    /** Whether the client connects when it is first used, for which the calling thread has to wait. */
    private final boolean isLazy;

    /** The last attempt to open it. */
    private volatile CompletableFuture<?> opening = CompletableFuture.completedFuture(null);

    /** Creates the mailbox of a session, not yet open. */
    public RedissonMailbox(RedissonClient client, String session) {
        this.topic = client.getTopic(CHANNEL + session, StringCodec.INSTANCE);
        this.isLazy = client.getConfig().isLazyInitialization();
    }

    private static void runAside(Runnable task) {
        Thread thread = new Thread(task, "interlock-mailbox-opener");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public CompletableFuture<?> open(Consumer<Mail> receiver, Runnable connected) {
        CompletableFuture<?> begun = isLazy
                ? CompletableFuture.supplyAsync(() -> subscribe(receiver, connected), RedissonMailbox::runAside)
                        .thenCompose(subscribed -> subscribed)
                : subscribe(receiver, connected);
        opening = begun;
        return begun;
    }

    private CompletableFuture<?> subscribe(Consumer<Mail> receiver, Runnable connected) {
        try {
            RFuture<Integer> listening =
                    topic.addListenerAsync(String.class, (channel, text) -> receive(text, receiver));
            return listening
                    .toCompletableFuture()
                    .thenCompose(id -> watch(connected).toCompletableFuture())
                    .whenComplete((watching, failure) -> {
                        if (failure != null) {
                            unsubscribe();
                        }
                    });
        } catch (RuntimeException e) {
            // A client that is shut down, or connects only now and can't, throws instead of returning a future.
            return CompletableFuture.failedFuture(e);
        }
    }

    private RFuture<Integer> watch(Runnable connected) {
        return topic.addListenerAsync(new StatusListener() {
            @Override
            public void onSubscribe(String channel) {
                connected.run();
            }

            @Override
            public void onUnsubscribe(String channel) {}
        });
    }

    @Override
    public void abandon() {
        close();
    }

    private static void receive(String text, Consumer<Mail> receiver) {
        Mail mail;
        try {
            mail = Mail.parse(text);
        } catch (IllegalArgumentException e) {
            // The exception would hold the whole text once more.
            log.warn(
                    "Unreadable message in the mailbox; its sender may be of another version: {}", Names.excerpt(text));
            return;
        }
        try {
            receiver.accept(mail);
        } catch (RuntimeException e) {
            // Whose it is doesn't matter to the other messages, nor to the client's other channels.
            log.error("A message in the mailbox could not be dealt with: {}", Names.excerpt(text), e);
        }
    }

    // A client that has yet to connect isn't used before it has: only then is there something to undo.
    @Override
    public CompletableFuture<?> close() {
        CompletableFuture<?> begun = opening;
        if (!isLazy) {
            return unsubscribe();
        }
        CompletableFuture<?> closing = begun.thenCompose(opened -> unsubscribe());
        return begun.isDone() ? closing : CompletableFuture.completedFuture(null);
    }

    private CompletableFuture<?> unsubscribe() {
        try {
            return topic.removeAllListenersAsync().toCompletableFuture();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
