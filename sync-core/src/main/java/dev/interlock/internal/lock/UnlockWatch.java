package dev.interlock.internal.lock;

import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens on Redisson's own channel while the owner of a name is a plain {@code RLock} client, who tells nobody else. Where
 * no channel is to be had, because of the client's limit, the pulse has to do.
 */
final class UnlockWatch {
    private static final Logger log = LoggerFactory.getLogger(UnlockWatch.class);

    private final RTopic topic;
    private int listenerId;
    private boolean subscribed;
    private boolean closed;

    /** Starts to listen. {@code unlocked} also runs once the channel is there, since a message may have come before. */
    UnlockWatch(RedissonClient client, String channel, boolean sharded, Runnable unlocked) {
        this.topic = sharded
                ? client.getShardedTopic(channel, StringCodec.INSTANCE)
                : client.getTopic(channel, StringCodec.INSTANCE);
        topic.addListenerAsync(String.class, (on, message) -> unlocked.run()).whenComplete((id, failure) -> {
            if (failure != null) {
                log.debug("No channel for {}", channel, failure);
            } else {
                subscribed(id);
                unlocked.run();
            }
        });
    }

    private synchronized void subscribed(int id) {
        listenerId = id;
        subscribed = true;
        if (closed) {
            topic.removeListenerAsync(id);
        }
    }

    synchronized void close() {
        closed = true;
        if (subscribed) {
            topic.removeListenerAsync(listenerId);
        }
    }
}
