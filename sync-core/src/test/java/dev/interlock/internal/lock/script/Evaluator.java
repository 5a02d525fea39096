package dev.interlock.internal.lock.script;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.RespError;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Evaluates scripts that reply with numbers, by their digests. */
final class Evaluator {
    private static final Map<String, String> DIGESTS = new ConcurrentHashMap<>();

    private final RedisServer server;

    Evaluator(RedisServer server) {
        this.server = server;
    }

    List<Long> run(String script, List<String> on, String... arguments) {
        if (!(evaluate(script, on, arguments) instanceof List<?> reply)) {
            throw new IllegalStateException("not a list");
        }
        List<Long> numbers = new ArrayList<>();
        for (Object element : reply) {
            assertThat(element).as("%s", reply).isInstanceOfSatisfying(Long.class, numbers::add);
        }
        return numbers;
    }

    // The text is sent once to each server: it is long, and a monitor would have to read it.
    private @Nullable Object evaluate(String script, List<String> on, String... arguments) {
        String digest = DIGESTS.computeIfAbsent(script, this::load);
        String[] command = Stream.of(
                        Stream.of("EVALSHA", digest, Integer.toString(on.size())), on.stream(), Stream.of(arguments))
                .flatMap(part -> part)
                .toArray(String[]::new);
        try {
            return server.command(command);
        } catch (RespError e) {
            if (!e.getMessage().startsWith("NOSCRIPT")) {
                throw e;
            }
            load(script);
            return server.command(command);
        }
    }

    private String load(String script) {
        return String.valueOf(server.command("SCRIPT", "LOAD", script));
    }
}
