package dev.interlock.internal.redis;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** The channels on which Redisson's own clients announce, and hear, that a lock is free. */
public interface UnlockChannels {
    /** A channel that is listened to. */
    interface Subscription {
        /** Ends it. */
        void close();
    }

    /** Returns the command that reaches Redisson's clients: {@code publish} or {@code spublish}. */
    String verb();

    /**
     * Listens to a channel, if one of those that a session may open is left. Where none is to be had, the pulse has to
     * do.
     *
     * @param heard runs at each message, and once the channel is there, since a message may have come before
     */
    @Nullable
    Subscription listen(String channel, Runnable heard);

    /** Publishes a message of Redisson's. */
    CompletableFuture<?> publish(String channel, String message);
}
