package dev.interlock.lock.condition;

import dev.interlock.testing.RespConnection;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;

/**
 * The elements of a {@link BoundedQueue}: a list in Redis, and another one of what was taken, by whom, in the order of
 * the takes. It has one connection and no protection of its own: what guards the queue guards it.
 */
final class QueueStore implements Closeable {

    /** Instead of an element: there is none. */
    static final long NONE = -1;

    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** In one step, so that an element that a killed JVM has taken is known to be its. */
    private static final String REMOVE = "local element = redis.call('lpop', KEYS[1]) "
            + "if element then redis.call('rpush', KEYS[2], ARGV[1] .. ' ' .. element) end "
            + "return element";

    private final RespConnection redis;
    private final String elements;
    private final String taken;

    /** What was taken, and by whom. */
    record Taken(String taker, long element) {}

    private QueueStore(RespConnection redis, String name) {
        this.redis = redis;
        this.elements = name + ":elements";
        this.taken = name + ":taken";
    }

    static QueueStore open(String url, String name) throws IOException {
        return new QueueStore(RespConnection.open(URI.create(url), TIMEOUT), name);
    }

    long size() {
        return number("LLEN", elements);
    }

    /** Returns the size with it. */
    long append(long element) {
        return number("RPUSH", elements, Long.toString(element));
    }

    /** Removes the first element, on behalf of somebody. */
    long remove(String taker) {
        return call("EVAL", REMOVE, "2", elements, taken, taker) instanceof String element
                ? Long.parseLong(element)
                : NONE;
    }

    long takenSize() {
        return number("LLEN", taken);
    }

    List<Taken> taken() {
        if (!(call("LRANGE", taken, "0", "-1") instanceof List<?> entries)) {
            throw new IllegalStateException("not a list");
        }
        return entries.stream()
                .map(entry -> String.valueOf(entry).split(" ", 2))
                .map(words -> new Taken(words[0], Long.parseLong(words[1])))
                .toList();
    }

    void delete() {
        number("DEL", elements, taken);
    }

    private long number(String... command) {
        return call(command) instanceof Long number ? number : NONE;
    }

    private Object call(String... command) {
        try {
            Object answer = redis.call(command);
            return answer == null ? NONE : answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        redis.close();
    }
}
