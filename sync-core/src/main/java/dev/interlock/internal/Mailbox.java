package dev.interlock.internal;

import dev.interlock.RedisUnavailableException;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RTopic;
import org.redisson.api.RedissonClient;
import org.redisson.api.listener.StatusListener;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one channel of a session, on which scripts tell it what other sessions' commands did for it. Nothing depends on a
 * message alone: the pulse finds out by itself what a lost one would have said.
 */
final class Mailbox {
    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);

    /** Takes the messages, on threads that must not block. */
    interface Receiver {
        void granted(String key, long sequence, long token, long redisMicros, boolean waiters);

        void demanded(String key, long sequence);

        void pollIn(String key, long millis);

        /** The channel is connected, maybe not for the first time: messages may have been missed. */
        void connected();
    }

    private final RTopic topic;
    private final Receiver receiver;

    Mailbox(RedissonClient client, String session, Receiver receiver) {
        this.topic = client.getTopic("interlock:mailbox:" + session, StringCodec.INSTANCE);
        this.receiver = receiver;
    }

    void open() {
        try {
            topic.addListener(String.class, (channel, message) -> receive(message));
            topic.addListener(new StatusListener() {
                @Override
                public void onSubscribe(String channel) {
                    receiver.connected();
                }

                @Override
                public void onUnsubscribe(String channel) {}
            });
        } catch (RedisException e) {
            throw new RedisUnavailableException("the session's mailbox can't be opened", e);
        }
    }

    private void receive(String message) {
        try {
            String[] grant = message.split(" ", 6);
            switch (grant[0]) {
                case "g" ->
                    receiver.granted(
                            grant[5], number(grant[1]), number(grant[2]), number(grant[3]), number(grant[4]) > 0);
                case "d" -> receiver.demanded(tail(message), number(grant[1]));
                case "p" -> receiver.pollIn(tail(message), number(grant[1]));
                default -> log.warn("Unknown message in the mailbox: {}", message);
            }
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            log.warn("Unreadable message in the mailbox: {}", message, e);
        }
    }

    private static String tail(String message) {
        return message.split(" ", 3)[2];
    }

    private static long number(String field) {
        return Long.parseLong(field);
    }

    void close(long timeoutMillis) {
        try {
            topic.removeAllListenersAsync().toCompletableFuture().get(timeoutMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
            log.debug("The mailbox could not be closed in an orderly way", e);
        }
    }
}
