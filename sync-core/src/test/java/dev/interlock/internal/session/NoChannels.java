package dev.interlock.internal.session;

import dev.interlock.internal.redis.UnlockChannels;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** No client of Redisson's listens, and none publishes. */
public final class NoChannels implements UnlockChannels {
    @Override
    public String verb() {
        return "publish";
    }

    @Override
    public @Nullable Subscription listen(String channel, Runnable heard) {
        return null;
    }

    @Override
    public CompletableFuture<?> publish(String channel, String message) {
        return CompletableFuture.completedFuture(0L);
    }
}
