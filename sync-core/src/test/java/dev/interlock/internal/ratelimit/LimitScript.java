package dev.interlock.internal.ratelimit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.ratelimit.LimitModel.Verdict;
import dev.interlock.internal.redis.Script;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.RespConnection;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The script that decides on requests, in a Redis of its own, by a clock that the caller sets. */
final class LimitScript implements AutoCloseable {
    /**
     * By how much later keys expire than the script says, which Redis decides by its own clock: on a busy machine that
     * goes faster than the caller's.
     */
    static final long LONGER_MILLIS = 3_600_000;

    private final RedisServer server = RedisServer.launch();
    private final RespConnection redis;
    private final String sha;

    LimitScript() {
        try {
            redis = RespConnection.open(URI.create(server.url()), Duration.ofSeconds(20));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String text = Script.load("ratelimit/decide").text();
        String virtual = replace(text, "redis.call('time')", "{ ARGV[5], ARGV[6] }");
        String expire = "redis.call('pexpire', state, ";
        sha = String.valueOf(call("SCRIPT", "LOAD", replace(virtual, expire, expire + LONGER_MILLIS + " + ")));
    }

    private static String replace(String text, String what, String by) {
        assertThat(text).contains(what);
        return text.replace(what, by);
    }

    @Nullable
    Object call(String... words) {
        try {
            return redis.call(words);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs the script at that time, in µs, and returns its reply. */
    List<?> run(String state, String updated, long now, String session, long version, String limit, String requests) {
        @Nullable
        Object reply = call(
                "EVALSHA",
                sha,
                "2",
                state,
                updated,
                session,
                "" + version,
                limit,
                requests,
                "" + now / 1_000_000,
                "" + now % 1_000_000);
        return (List<?>) requireNonNull(reply);
    }

    /** Returns what a reply says of each request. */
    static List<Verdict> verdicts(List<?> reply) {
        List<Verdict> verdicts = new ArrayList<>();
        for (int i = 1; i < reply.size(); i += 5) {
            verdicts.add(new Verdict(
                    (Long) reply.get(i), (Long) reply.get(i + 1), (Long) reply.get(i + 2), (Long) reply.get(i + 3)));
        }
        return verdicts;
    }

    /** Returns how many bytes Redis needs for a key. */
    long bytes(String key) {
        return call("MEMORY", "USAGE", key) instanceof Long bytes ? bytes : 0;
    }

    @Override
    public void close() {
        try (server) {
            redis.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
