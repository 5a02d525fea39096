package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.google.common.io.Resources;
import dev.interlock.testing.RespConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A real Redis that runs scripts at a virtual time. */
final class RealRedis implements AutoCloseable {
    private static final String PLACE = "-- @script";

    private final String frame;
    private final RespConnection connection;

    /** The digests of the scripts that are loaded, by their texts. */
    private final Map<String, String> digests = new HashMap<>();

    /** The TTLs of all keys that expire, at this time. */
    private final Map<String, Long> ttls = new HashMap<>();

    /** Connects to a server, and removes what is there. */
    RealRedis(String url) throws IOException {
        frame = Resources.toString(Resources.getResource("dev/interlock/simulation/virtual.lua"), UTF_8);
        connection = RespConnection.open(URI.create(url), Duration.ofSeconds(20));
        connection.call("FLUSHALL");
    }

    /** Has time pass, or step back if that is less than 0. Returns whether that is possible. */
    boolean pass(long millis) {
        ttls.replaceAll((key, ttl) -> ttl - millis);
        // In its last millisecond a key is still there, which can't be told by a TTL.
        return !ttls.containsValue(0L);
    }

    Outcome eval(String text, List<String> keys, List<String> arguments, long micros, int subscribers) {
        String digest = digests.computeIfAbsent(text, this::load);
        List<String> words = new ArrayList<>(List.of("EVALSHA", digest));
        words.add(Integer.toString(keys.size() + ttls.size()));
        words.addAll(keys);
        words.addAll(ttls.keySet());
        words.add(Long.toString(micros));
        words.add(Integer.toString(subscribers));
        words.add(Integer.toString(keys.size()));
        words.add(Integer.toString(arguments.size()));
        words.addAll(arguments);
        ttls.values().forEach(ttl -> words.add(Long.toString(ttl)));
        List<?> fields = list(call(words.toArray(String[]::new)));
        Object reply = fields.get(1);
        boolean isDone = fields.get(0).equals(1L);
        return new Outcome(
                isDone ? reply : null,
                isDone ? "" : String.valueOf(reply),
                strings(fields.get(2)),
                data(list(fields.get(3))));
    }

    private String load(String text) {
        return String.valueOf(call("SCRIPT", "LOAD", frame.replace(PLACE, text)));
    }

    private @Nullable Object call(String... words) {
        try {
            return connection.call(words);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<?> list(@Nullable Object reply) {
        return (List<?>) requireNonNull(reply);
    }

    private static List<String> strings(@Nullable Object reply) {
        return list(reply).stream().map(String::valueOf).toList();
    }

    /** Takes note of the TTLs, and returns all keys as {@link Database#dump} does. */
    private String data(List<?> entries) {
        ttls.clear();
        Map<String, String> lines = new TreeMap<>();
        for (Object each : entries) {
            List<?> entry = list(each);
            String key = String.valueOf(entry.get(0));
            long ttl = (Long) entry.get(1);
            String type = String.valueOf(entry.get(2));
            if (ttl >= 0) {
                ttls.put(key, ttl);
            }
            String bytes = Bytes.of(key);
            String content = type + " " + content(type, strings(entry.get(3)));
            lines.put(bytes, Bytes.printable(bytes) + " " + content + (ttl < 0 ? "" : " ttl " + ttl) + "\n");
        }
        return String.join("", lines.values());
    }

    private static String content(String type, List<String> parts) {
        if (type.equals("string")) {
            return parts.get(0);
        }
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < parts.size(); i += 2) {
            pairs.add(parts.get(i) + "=" + parts.get(i + 1));
        }
        return (type.equals("hash") ? pairs.stream().sorted() : pairs.stream()).collect(Collectors.joining(" "));
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }
}
