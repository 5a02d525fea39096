package dev.interlock.internal.redis;

import com.google.common.base.Ticker;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.redisson.client.RedisRetryException;
import org.redisson.config.Config;

/**
 * Knows for how many replicas a command has to wait: for as many as the session wants, or for all that are online.
 *
 * <p>To wait for more than there are takes a second each time, so a node that may have too few is asked first. That is
 * so at the beginning, and for a while after any node had too few. In a cluster a failover leaves one node without
 * replicas, and the others have theirs; since nobody here knows which node serves a name, it is asked for each name.
 */
final class Replicas {
    /** Too few replicas have acknowledged a command in time. The master has executed it. */
    static final class UnacknowledgedException extends RedisRetryException {
        private static final long serialVersionUID = 1;

        UnacknowledgedException(String message) {
            super(message);
        }
    }

    /** That the node has to be asked how many replicas are online. */
    static final int UNKNOWN = -1;

    /** For how long it is true how many there are. */
    private static final Duration RECHECK = Duration.ofSeconds(10);

    private static final Duration SUSPICION = Duration.ofMinutes(5);
    private static final int NAMES = 10_000;

    private final int wanted;
    private final boolean hasManyMasters;
    private final LongSupplier ticker;
    private final Cache<String, Integer> online;
    private volatile long suspectedUntilNanos;

    Replicas(Config config, int wanted, LongSupplier ticker) {
        this.wanted = config.isSingleConfig() ? 0 : wanted;
        this.hasManyMasters = config.isClusterConfig();
        this.ticker = ticker;
        this.online = CacheBuilder.newBuilder()
                .expireAfterWrite(RECHECK)
                .maximumSize(NAMES)
                .ticker(new Ticker() {
                    @Override
                    public long read() {
                        return ticker.getAsLong();
                    }
                })
                .build();
        suspect();
    }

    private void suspect() {
        suspectedUntilNanos = ticker.getAsLong() + SUSPICION.toNanos();
    }

    boolean areWanted() {
        return wanted > 0;
    }

    /** Returns for how many a command on that key has to wait, or {@link #UNKNOWN}. */
    int needed(String key) {
        if (wanted == 0) {
            return 0;
        }
        Integer known = online.getIfPresent(node(key));
        if (known != null) {
            return Math.min(wanted, known);
        }
        return ticker.getAsLong() - suspectedUntilNanos < 0 ? UNKNOWN : wanted;
    }

    /** Takes note of how many are online at the node that owns a key. Returns for how many a command has to wait. */
    int found(String key, int count) {
        online.put(node(key), count);
        if (count < wanted) {
            suspect();
        }
        return Math.min(wanted, count);
    }

    private String node(String key) {
        return hasManyMasters ? key : "";
    }
}
