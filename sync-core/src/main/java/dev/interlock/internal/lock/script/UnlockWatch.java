package dev.interlock.internal.lock.script;

import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.Session;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens on Redisson's own channel while the owner of a name is a plain {@code RLock} client, who tells nobody else.
 * Where no channel is to be had, because of the session's limit or the client's, the pulse has to do.
 */
final class UnlockWatch {
    private static final Logger log = LoggerFactory.getLogger(UnlockWatch.class);

    private final RTopic topic;
    private final Semaphore channels;
    private int listenerId;
    private boolean subscribed;
    private boolean closed;

    /**
     * Starts to listen, if one of the session's channels is left. {@code unlocked} also runs once the channel is there,
     * since a message may have come before.
     */
    static @Nullable UnlockWatch open(Session session, String channel, Runnable unlocked) {
        if (!session.channels().tryAcquire()) {
            log.debug("No channel left for {}", Keys.quoted(channel));
            return null;
        }
        UnlockWatch watch = new UnlockWatch(session, channel);
        watch.subscribe(channel, unlocked);
        return watch;
    }

    private UnlockWatch(Session session, String channel) {
        RedissonClient client = session.client();
        this.channels = session.channels();
        this.topic = session.isSharded()
                ? client.getShardedTopic(channel, StringCodec.INSTANCE)
                : client.getTopic(channel, StringCodec.INSTANCE);
    }

    private void subscribe(String channel, Runnable unlocked) {
        topic.addListenerAsync(String.class, (on, message) -> unlocked.run()).whenComplete((id, failure) -> {
            if (failure != null) {
                log.debug("No channel for {}", Keys.quoted(channel), failure);
                channels.release();
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
            unsubscribe();
        }
    }

    synchronized void close() {
        closed = true;
        if (subscribed) {
            unsubscribe();
        }
    }

    private void unsubscribe() {
        topic.removeListenerAsync(listenerId).whenComplete((done, failure) -> channels.release());
    }
}
