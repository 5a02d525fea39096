package dev.interlock.internal.redis;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Names;
import dev.interlock.internal.Presence;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RFuture;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.listener.StatusListener;
import org.redisson.client.ChannelName;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisPubSubConnection;
import org.redisson.client.RedisPubSubListener;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.pubsub.PubSubType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mailbox on a channel of Redisson's. In a cluster what is published there goes to all nodes. So the session also
 * listens in the slots of those names about which it hears most: what is published there stays on its node. Where it is
 * not heard there (as while slots move) scripts use the one channel.
 */
public final class RedissonMailbox implements Mailbox {
    private static final Logger log = LoggerFactory.getLogger(RedissonMailbox.class);

    /** Prefix of a session's channel; scripts have it, too. */
    static final String CHANNEL = "interlock:mailbox:";

    /** The text before and behind a session's id in the name of its second channel, without {@link #CHANNEL}. */
    private static final String PRESENCE = "{" + CHANNEL;

    private static final String BEHIND_ID = "} ";

    /** What ids of sessions end in that listen in slots, too; scripts have it, too. */
    private static final String SHARDED = "-s";

    /** A client has 250 channels of a node on default settings, and its other users need some. */
    private static final int MOST_NAMES = 100;

    /** So many messages about a name through all nodes are often. */
    private static final int OFTEN = 3;

    /** After so long in a slot, a message through all nodes means that the session doesn't listen there any more. */
    private static final long SETTLED_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final RedissonClient client;
    private final String session;
    private final RTopic topic;

    /**
     * A channel without messages, whose name says who the session is. Redis knows it for as long as the session is
     * connected, also if that stands still and can't be asked. It is in the slot of the other channel.
     */
    private final RTopic presence;

    /** Whether the client connects when it is first used, for which the calling thread has to wait. */
    private final boolean isLazy;

    /** The last attempt to open it. */
    private volatile CompletableFuture<?> opening = CompletableFuture.completedFuture(null);

    /** The last attempt to listen to the channel without messages, however it has ended. */
    @GuardedBy("this")
    private CompletableFuture<?> showing = CompletableFuture.completedFuture(null);

    /** The names about which something was heard lately, the latest last. */
    @GuardedBy("this")
    private final Map<String, Slot> slots = new LinkedHashMap<>(16, 0.75f, true);

    @GuardedBy("this")
    private boolean closed;

    /**
     * Those on which the session listens in slots, by node. They are none of Redisson's own: these stay with a node
     * that a slot has left, and then can't be subscribed to any more (4.7.0).
     */
    @GuardedBy("this")
    private final Map<RedisClient, CompletableFuture<RedisPubSubConnection>> connections = new HashMap<>();

    /** A name about which something was heard. */
    private static final class Slot {
        final ChannelName channel;
        final RedisPubSubListener<String> listener;
        int messages;

        /** The node on which the session listens, or tries to. */
        @Nullable
        RedisClient node;

        long sinceNanos;

        Slot(String channel, RedisPubSubListener<String> listener) {
            this.channel = new ChannelName(channel);
            this.listener = listener;
        }
    }

    /** Creates the mailbox of a session, not yet open. */
    public RedissonMailbox(RedissonClient client, String session, Presence presence) {
        this.client = client;
        this.session = session;
        this.topic = client.getTopic(channel(session), StringCodec.INSTANCE);
        this.presence = client.getTopic(presenceChannel(session, presence), StringCodec.INSTANCE);
        this.isLazy = client.getConfig().isLazyInitialization();
    }

    /** Returns the channel of a session's mailbox. */
    public static String channel(String session) {
        return CHANNEL + session;
    }

    /** Returns the channel without messages by whose name a session says who it is. */
    public static String presenceChannel(String session, Presence presence) {
        return CHANNEL + PRESENCE + session + BEHIND_ID + presence.words();
    }

    /** Returns what the id of a session through this client ends in. */
    public static String suffix(RedissonClient client) {
        return client.getConfig().isClusterConfig() ? SHARDED : "";
    }

    /**
     * Reads which sessions are connected, and who they are.
     *
     * @param channels what follows the prefix in the names of channels
     * @param sessions takes the ids of those that have a mailbox
     * @param presences takes who they are
     */
    public static void read(List<Object> channels, Set<String> sessions, Map<String, Presence> presences) {
        for (Object channel : channels) {
            String text = (String) channel;
            int end = text.startsWith(PRESENCE) ? text.indexOf(BEHIND_ID) : -1;
            if (end < 0) {
                sessions.add(text);
                continue;
            }
            try {
                presences.put(
                        text.substring(PRESENCE.length(), end),
                        Presence.parse(text.substring(end + BEHIND_ID.length())));
            } catch (RuntimeException e) {
                log.debug("A channel of a stranger, or of another version: {}", Names.excerpt(text), e);
            }
        }
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
        synchronized (this) {
            closed = false;
        }
        try {
            RFuture<Integer> listening =
                    topic.addListenerAsync(String.class, (channel, text) -> receive(text, receiver, true));
            return listening
                    .toCompletableFuture()
                    .thenCompose(id -> watch(connected).toCompletableFuture())
                    .whenComplete((watching, failure) -> {
                        if (failure != null) {
                            unsubscribe();
                        } else {
                            show();
                        }
                    });
        } catch (RuntimeException e) {
            // A client that is shut down, or connects only now and can't, throws instead of returning a future.
            return CompletableFuture.failedFuture(e);
        }
    }

    // Without it the session works as well.
    private synchronized void show() {
        if (closed) {
            return;
        }
        try {
            RFuture<Integer> listening = presence.addListenerAsync(String.class, (channel, text) -> {});
            showing = listening.toCompletableFuture().handle((id, failure) -> id);
        } catch (RuntimeException e) {
            log.debug("Session {} can't show who it is", session, e);
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

    private void receive(String text, Consumer<Mail> receiver, boolean isFromAnywhere) {
        Deliveries.deliver(text, session, mail -> {
            receiver.accept(mail);
            if (session.endsWith(SHARDED) && !mail.key().isEmpty()) {
                heard(mail.key(), receiver, isFromAnywhere);
            }
        });
    }

    private synchronized void heard(String key, Consumer<Mail> receiver, boolean isFromAnywhere) {
        Slot slot = slots.computeIfAbsent(key, name -> {
            String tagged = name.contains("{") ? name : "{" + name + "}";
            return new Slot(CHANNEL + tagged + ":" + session, (channel, text) -> receive(text, receiver, false));
        });
        long now = System.nanoTime();
        boolean listens = slot.node != null && now - slot.sinceNanos < SETTLED_NANOS;
        if (!closed && isFromAnywhere && !listens && ++slot.messages >= OFTEN && RedissonChannels.isSharded(client)) {
            leave(slot);
            slot.sinceNanos = now;
            join(slot);
        }
        if (slots.size() > MOST_NAMES) {
            String longestAgo = slots.keySet().iterator().next();
            leave(requireNonNull(slots.remove(longestAgo)));
        }
    }

    // If that fails, the next message comes through all nodes as well.
    @GuardedBy("this")
    private void join(Slot slot) {
        RedisClient node = RedissonChannels.masterOf(client, slot.channel);
        if (node == null) {
            return;
        }
        CompletableFuture<RedisPubSubConnection> connecting = connections.compute(
                node,
                (same, before) -> before == null || before.isCompletedExceptionally()
                        ? node.connectPubSubAsync().toCompletableFuture()
                        : before);
        slot.node = node;
        connecting.thenAccept(connection -> listen(connection, slot, node));
    }

    private synchronized void listen(RedisPubSubConnection connection, Slot slot, RedisClient node) {
        if (slot.node == node) {
            connection.addListener(slot.channel, slot.listener);
            connection.ssubscribe(StringCodec.INSTANCE, slot.channel);
        }
    }

    @GuardedBy("this")
    private void leave(Slot slot) {
        RedisClient node = slot.node;
        if (node == null) {
            return;
        }
        slot.node = null;
        boolean isLast = slots.values().stream().noneMatch(other -> other.node == node);
        CompletableFuture<RedisPubSubConnection> connecting =
                requireNonNull(isLast ? connections.remove(node) : connections.get(node));
        connecting.thenAccept(connection -> {
            connection.removeListener(slot.channel, slot.listener);
            if (isLast) {
                connection.closeAsync();
            } else {
                connection.unsubscribe(PubSubType.SUNSUBSCRIBE, slot.channel);
            }
        });
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
            CompletableFuture<?> shown;
            synchronized (this) {
                closed = true;
                slots.values().forEach(this::leave);
                shown = showing;
            }
            CompletableFuture<Void> hidden = shown.thenCompose(done -> presence.removeAllListenersAsync());
            return CompletableFuture.allOf(topic.removeAllListenersAsync().toCompletableFuture(), hidden);
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }
}
