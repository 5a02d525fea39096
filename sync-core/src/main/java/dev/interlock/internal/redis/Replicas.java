package dev.interlock.internal.redis;

import com.google.common.base.Ticker;
import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.interlock.internal.redis.Script.Call;
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
public final class Replicas {
    /** Too few replicas have acknowledged a command in time. The master has executed it. */
    public static final class UnacknowledgedException extends RedisRetryException {
        private static final long serialVersionUID = 1;

        UnacknowledgedException(String message) {
            super(message);
        }
    }

    /** That the node has to be asked how many replicas are online. */
    public static final int UNKNOWN = -1;

    /** For how long it is true how many there are. */
    private static final Duration RECHECK = Duration.ofSeconds(10);

    private static final Duration SUSPICION = Duration.ofMinutes(5);
    private static final long MOST_MILLIS = 1_000;
    private static final int NAMES = 10_000;

    private final int wanted;
    private final boolean hasManyMasters;
    private final LongSupplier ticker;
    private final Cache<String, Integer> online;
    private volatile long suspectedUntilNanos;

    /** Knows nothing yet of the servers that are configured so. */
    public Replicas(Config config, int wanted, LongSupplier ticker) {
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

    /** Returns whether the session waits for any. */
    public boolean areWanted() {
        return wanted > 0;
    }

    /** Returns for how many a command on that key has to wait, or {@link #UNKNOWN}. */
    public int needed(String key) {
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
    public int found(String key, int count) {
        online.put(node(key), count);
        if (count < wanted) {
            suspect();
        }
        return Math.min(wanted, count);
    }

    /**
     * Makes sure that enough replicas have acknowledged a command.
     *
     * @param online how many are online at the node that has executed it
     * @throws UnacknowledgedException if too few have
     */
    public void check(Call call, int acknowledgements, int online) {
        int needed = found(call.firstKey(), online);
        if (acknowledgements < needed) {
            throw new UnacknowledgedException(acknowledgements + " of " + online + " replicas have acknowledged "
                    + call.script + " in time, but " + needed + " have to");
        }
    }

    /** Returns for how long a master waits for replicas, so that who waits for one command time-out hears of it. */
    public static long timeoutMillis(Settings settings) {
        return Math.max(1, Math.min(MOST_MILLIS, settings.commandTimeoutMillis() / 2));
    }

    private String node(String key) {
        return hasManyMasters ? key : "";
    }
}
