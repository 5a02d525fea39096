package dev.interlock.internal.ratelimit;

import com.google.common.base.Splitter;
import dev.interlock.internal.redis.Keys;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The limit of one name, which all limiters share that were made from one: its keys, and the limit that applies. That
 * is the limit by which the first was obtained, unless another was set in Redis for all sessions.
 */
final class SharedLimit {
    private static final Splitter BLANKS = Splitter.on(' ');

    /** The limit that applies, and how scripts write the one that was set for all; empty if none was set. */
    private record Known(String text, RateLimit limit) {}

    final String name;

    /** The limit by which the limiter was obtained. */
    private final RateLimit own;

    /** The same, as scripts write it. */
    final String ownText;

    private final String prefix;
    private volatile Known latest;

    SharedLimit(String name, String key, RateLimit limit) {
        this.name = name;
        this.prefix = Keys.prefix(key);
        this.own = limit;
        this.ownText = text(limit);
        this.latest = new Known("", limit);
    }

    /** Returns the key of the limit that was set for all. */
    String updatedKey() {
        return prefix + "rate-limit";
    }

    /** Returns the key of what was taken. */
    String stateKey() {
        return prefix + "rate";
    }

    /** Returns the key of what was taken for a key of users. */
    String stateKey(String user) {
        return prefix + "rate:" + user;
    }

    /** Returns the limit that applies, as far as is known. */
    RateLimit latest() {
        return latest.limit;
    }

    /** Takes note of the limit that was set for all, empty if none was; returns the limit that applies. */
    RateLimit update(String text) {
        Known known = latest;
        if (!known.text.equals(text)) {
            known = new Known(text, text.isEmpty() ? own : parsed(text));
            latest = known;
        }
        return known.limit;
    }

    /** Returns a limit as scripts write it. */
    static String text(RateLimit limit) {
        return algorithm(limit) + " " + limit.permits() + " " + windowMicros(limit) + " " + limit.burst();
    }

    private static String algorithm(RateLimit limit) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW -> "fixed";
            case SLIDING_WINDOW -> "sliding";
            case TOKEN_BUCKET -> "bucket";
        };
    }

    private static long windowMicros(RateLimit limit) {
        return TimeUnit.MILLISECONDS.toMicros(limit.window().toMillis());
    }

    private static RateLimit parsed(String text) {
        List<String> fields = BLANKS.splitToList(text);
        long permits = Long.parseLong(fields.get(1));
        Duration window = Duration.ofMillis(Long.parseLong(fields.get(2)) / 1_000);
        return switch (fields.get(0)) {
            case "fixed" -> RateLimit.fixedWindow(permits, window);
            case "sliding" -> RateLimit.slidingWindow(permits, window);
            case "bucket" -> RateLimit.tokenBucket(permits, window).withBurst(Long.parseLong(fields.get(3)));
            default -> throw new IllegalArgumentException("not a limit that this version knows: " + text);
        };
    }
}
