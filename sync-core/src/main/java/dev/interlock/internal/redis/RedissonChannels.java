package dev.interlock.internal.redis;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.internal.Names;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.NodeType;
import org.redisson.api.RFuture;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.ChannelName;
import org.redisson.client.RedisClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.connection.ConnectionManager;
import org.redisson.connection.MasterSlaveEntry;
import org.redisson.misc.RedisURI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Redisson's channels through a client, which decides whether they are sharded. */
public final class RedissonChannels implements UnlockChannels {
    private static final Logger log = LoggerFactory.getLogger(RedissonChannels.class);

    /** A client has 250 on default settings, and its other users need some, the next session's mailbox among them. */
    private static final int CHANNELS = 100;

    private final RedissonClient client;
    private final Executor executor;
    private final Semaphore left = new Semaphore(CHANNELS);

    /**
     * Opens channels through this client.
     *
     * @param executor runs what may block, since the client may have yet to connect
     */
    public RedissonChannels(RedissonClient client, Executor executor) {
        this.client = client;
        this.executor = executor;
    }

    @Override
    public String verb() {
        return isSharded(client) ? "spublish" : "publish";
    }

    /** Returns whether a client listens in the slots of a cluster. It depends on the server and on its settings. */
    static boolean isSharded(RedissonClient client) {
        return client instanceof Redisson redisson
                ? redisson.getCommandExecutor()
                        .getConnectionManager()
                        .getSubscribeService()
                        .isShardingSupported()
                : client.getConfig().isClusterConfig();
    }

    /** Returns the master of the slot of a channel, if that is known. */
    static @Nullable RedisClient masterOf(RedissonClient client, ChannelName channel) {
        if (!(client instanceof Redisson redisson)) {
            return null;
        }
        ConnectionManager connections = redisson.getCommandExecutor().getConnectionManager();
        MasterSlaveEntry entry = connections.getEntry(connections.calcSlot(channel.getName()));
        return entry == null ? null : entry.getClient();
    }

    /**
     * Returns the server that a client with a single master uses, or null if none is known. A client that connects when
     * it is first used does so now.
     */
    public static @Nullable RedisClient master(RedissonClient client) {
        return masterOf(client, new ChannelName(ScriptRunner.ANY_KEY));
    }

    /**
     * Returns the server that a client of a single server is configured with, as the client would use it. The client
     * doesn't connect.
     *
     * @param client a {@link Redisson}
     */
    public static RedisClient single(RedissonClient client) {
        RedisURI uri = new RedisURI(client.getConfig().useSingleServer().getAddress());
        return ((Redisson) client)
                .getCommandExecutor()
                .getConnectionManager()
                .createClient(NodeType.MASTER, uri, uri.getHost());
    }

    private RTopic topic(String channel) {
        return isSharded(client)
                ? client.getShardedTopic(channel, StringCodec.INSTANCE)
                : client.getTopic(channel, StringCodec.INSTANCE);
    }

    @Override
    public @Nullable Subscription listen(String channel, Runnable heard) {
        if (!left.tryAcquire()) {
            log.debug("No channel left for {}", Names.quoted(channel));
            return null;
        }
        var listener = new Listener();
        executor.execute(() -> listener.subscribe(channel, heard));
        return listener;
    }

    @Override
    public CompletableFuture<?> publish(String channel, String message) {
        return CompletableFuture.supplyAsync(() -> topic(channel).publishAsync(message), executor)
                .thenCompose(sent -> sent);
    }

    private final class Listener implements Subscription {
        /** Null before it is subscribed to. */
        @GuardedBy("this")
        private @Nullable RTopic topic;

        @GuardedBy("this")
        private int listenerId;

        @GuardedBy("this")
        private boolean closed;

        private void subscribe(String channel, Runnable heard) {
            if (isClosed()) {
                left.release();
                return;
            }
            RTopic wanted;
            RFuture<Integer> subscription;
            try {
                wanted = topic(channel);
                subscription = wanted.addListenerAsync(String.class, (on, message) -> heard.run());
            } catch (RuntimeException e) {
                // A client that can't connect, or is shut down, throws instead of returning a future.
                failed(channel, e);
                return;
            }
            subscription.whenComplete((id, failure) -> {
                if (failure != null) {
                    failed(channel, failure);
                } else {
                    subscribed(wanted, id);
                    heard.run();
                }
            });
        }

        private synchronized boolean isClosed() {
            return closed;
        }

        private void failed(String channel, Throwable failure) {
            log.debug("No channel for {}", Names.quoted(channel), failure);
            left.release();
        }

        private synchronized void subscribed(RTopic to, int id) {
            topic = to;
            listenerId = id;
            if (closed) {
                unsubscribe(to);
            }
        }

        @Override
        public synchronized void close() {
            closed = true;
            if (topic != null) {
                unsubscribe(topic);
            }
        }

        @GuardedBy("this")
        private void unsubscribe(RTopic from) {
            from.removeListenerAsync(listenerId).whenComplete((done, failure) -> left.release());
        }
    }
}
