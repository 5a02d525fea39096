package dev.interlock.internal.ratelimit;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Splitter;
import com.google.common.hash.Hashing;
import dev.interlock.internal.redis.Keys;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The limit of one name, which all limiters share that were made from one: its keys, and the limit that applies. That
 * is the limit by which the first was obtained, unless another was set in Redis for all sessions.
 */
final class SharedLimit {
    private static final Splitter BLANKS = Splitter.on(' ');

    /** The users of a limiter are divided into so many, each with a hash slot of its own: a power of two. */
    private static final int SHARES = 256;

    private static final String UPDATED = "rate-limit";

    /** The limit that applies, and how scripts write the one that was set for all; empty if none was set. */
    private record Known(String text, RateLimit limit) {}

    final String name;

    /** The limit by which the limiter was obtained. */
    private final RateLimit own;

    /** The same, as scripts write it. */
    final String ownText;

    private final String key;
    private volatile Known latest;

    SharedLimit(String name, String key, RateLimit limit) {
        this.name = name;
        this.key = key;
        this.own = limit;
        this.ownText = text(limit);
        this.latest = new Known("", limit);
    }

    /**
     * Returns the keys by which requests are decided on: what was taken, and the limit that was set for all.
     *
     * @param user what the limiter is for, null if it is for all
     */
    List<Object> keys(@Nullable String user) {
        if (user == null) {
            String prefix = Keys.prefix(key);
            return List.of(prefix + "rate", prefix + UPDATED);
        }
        int share = Hashing.murmur3_32_fixed().hashString(user, UTF_8).asInt() & (SHARES - 1);
        String prefix = Keys.prefix(key, share);
        return List.of(prefix + "rate:" + user, prefix + UPDATED);
    }

    /** Returns all keys of the limit that is set for all. The first one gives an update its version. */
    List<String> updatedKeys() {
        Stream<String> shares = IntStream.range(0, SHARES).mapToObj(share -> Keys.prefix(key, share));
        return Stream.concat(Stream.of(Keys.prefix(key)), shares)
                .distinct()
                .map(prefix -> prefix + UPDATED)
                .toList();
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
