package dev.interlock.testing;

import dev.interlock.RedisUnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;

/**
 * A Redis server for tests: the one that all tests of a JVM share, or a private one that a test may kill.
 *
 * <pre>{@code
 * String url = RedisServer.provided().url();
 *
 * try (RedisServer server = RedisServer.launch("--appendonly", "yes")) {
 *     server.kill();
 *     server.restart();
 * }
 * }</pre>
 *
 * <p>A launched server listens on loopback only, keeps its files in a temporary folder, and ends with this JVM together
 * with that folder, even if this JVM is killed.
 */
public final class RedisServer implements AutoCloseable {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration MOST_CONNECTING = Duration.ofSeconds(60);
    private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final String SCAN_COUNT = "1000";

    private static @Nullable RedisServer provided;

    private final URI url;
    private final URI adminUrl;
    private final @Nullable RedisProcess process;
    private final boolean closeable;

    private RedisServer(URI url, URI adminUrl, @Nullable RedisProcess process, boolean closeable) {
        this.url = url;
        this.adminUrl = adminUrl;
        this.process = process;
        this.closeable = closeable;
    }

    /**
     * The server of this JVM, the same at every call: that of the environment variable {@code REDIS_URL} (of which
     * {@code REDIS_ADMIN_URL} names a user with all rights, if that of the first has fewer), or else one in a container
     * if a Docker daemon answers, or else an embedded one. Child JVMs that shall share it are told its {@link #url()}.
     * Closing it does nothing.
     */
    public static synchronized RedisServer provided() {
        if (provided == null) {
            provided = provide();
        }
        return provided;
    }

    private static RedisServer provide() {
        String external = System.getenv("REDIS_URL");
        if (external != null && !external.isBlank()) {
            URI url = URI.create(external.strip());
            String admin = System.getenv("REDIS_ADMIN_URL");
            return new RedisServer(url, admin == null ? url : URI.create(admin.strip()), null, false);
        }
        return container()
                .map(url -> new RedisServer(URI.create(url), URI.create(url), null, false))
                .orElseGet(() -> embedded(RedisBinary.current(), "", List.of(), false));
    }

    private static Optional<String> container() {
        try {
            return RedisContainer.start();
        } catch (NoClassDefFoundError e) {
            return Optional.empty(); // a class path without Testcontainers
        }
    }

    /**
     * Starts a private server and returns when it answers: an embedded one, or the {@code redis-server} that the
     * environment variable {@code INTERLOCK_REDIS_SERVER} names.
     *
     * @param extraArguments of {@code redis-server}, for instance {@code "--replicaof", "127.0.0.1", "7000"}
     * @throws IllegalStateException with the output of the server if it does not start
     */
    public static RedisServer launch(String... extraArguments) {
        return embedded(RedisBinary.current(), "", List.of(extraArguments), true);
    }

    /** As {@link #launch}, of the oldest version that we support. */
    public static RedisServer launchOldest(String... extraArguments) {
        return embedded(RedisBinary.oldest(), "", List.of(extraArguments), true);
    }

    /** As {@link #launch}, with a configuration file of these lines. */
    public static RedisServer launchConfigured(String configuration, String... extraArguments) {
        return embedded(RedisBinary.current(), configuration, List.of(extraArguments), true);
    }

    private static RedisServer embedded(
            RedisBinary binary, String configuration, List<String> extraArguments, boolean closeable) {
        var process = RedisProcess.launch(binary, configuration, extraArguments);
        return new RedisServer(process.url(), process.url(), process, closeable);
    }

    /**
     * Connects, by more than one attempt if need be: a JVM that has just started on a busy machine may take longer to
     * read the first reply than a client waits for it.
     */
    public static <T> T connect(Supplier<T> client) {
        long startNanos = System.nanoTime();
        while (true) {
            try {
                return client.get();
            } catch (RedisUnavailableException | RedisException e) {
                if (System.nanoTime() - startNanos > MOST_CONNECTING.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }

    /** Where a client connects to, such as {@code redis://127.0.0.1:7000}. */
    public String url() {
        return url.toString();
    }

    /** The host name or address that {@link #url()} holds. */
    public String host() {
        return url.getHost();
    }

    /** The TCP port that {@link #url()} holds. */
    public int port() {
        return RespConnection.port(url);
    }

    /** The process id; another one after each restart. */
    public long pid() {
        return process().pid();
    }

    /** The folder with the files of the server. */
    public Path folder() {
        return process().folder();
    }

    /** Kills the server as {@code kill -9} does; when this method returns, the process is gone. */
    public void kill() {
        process().kill();
    }

    /** Starts the server again on the same port and in the same folder, after killing it if it still runs. */
    public void restart() {
        process().restart();
    }

    /** Stops the process as {@code kill -STOP} does: connections stay open, nothing is answered. */
    public void pause() {
        Signals.stop(process().pid());
    }

    /** Lets a paused process go on. */
    public void resume() {
        Signals.resume(process().pid());
    }

    /**
     * Sends one command on a connection of its own, past the client under test.
     *
     * @return a String, Long, List (possibly nested) or null
     * @throws RespError if Redis answers an error
     * @throws UncheckedIOException if Redis is unreachable, or does not answer for 10 s
     */
    public @Nullable Object command(String... arguments) {
        try (var connection = RespConnection.open(adminUrl, COMMAND_TIMEOUT)) {
            return connection.call(arguments);
        } catch (IOException e) {
            throw new UncheckedIOException(String.join(" ", arguments) + " at " + this + ": " + e.getMessage(), e);
        }
    }

    /** All keys of the database with their times to live in milliseconds, as PTTL gives them, sorted. */
    public Map<String, Long> ttlMillis() {
        var ttls = new TreeMap<String, Long>();
        try (var connection = RespConnection.open(adminUrl, COMMAND_TIMEOUT)) {
            for (String key : keys()) {
                if (!(connection.call("PTTL", key) instanceof Long millis)) {
                    throw new IllegalStateException("Not an answer to PTTL");
                }
                ttls.put(key, millis);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("PTTL at " + this + ": " + e.getMessage(), e);
        }
        return ttls;
    }

    /** All keys of the database, sorted. */
    public Set<String> keys() {
        return keys("*");
    }

    /** All keys of the database that match a pattern as SCAN takes it, sorted. */
    public Set<String> keys(String pattern) {
        var keys = new TreeSet<String>();
        String cursor = "0";
        do {
            if (!(command("SCAN", cursor, "MATCH", pattern, "COUNT", SCAN_COUNT) instanceof List<?> reply)
                    || !(reply.get(1) instanceof List<?> page)) {
                throw new IllegalStateException("Not an answer to SCAN");
            }
            page.forEach(key -> keys.add(String.valueOf(key)));
            cursor = String.valueOf(reply.get(0));
        } while (!cursor.equals("0"));
        return keys;
    }

    /**
     * How often a command ran since the start of the server or {@code CONFIG RESETSTAT}. Commands that a script calls
     * count, and so do this method's own {@code info}s.
     *
     * @param command such as {@code evalsha} or {@code client|kill}
     */
    public long commandCalls(String command) {
        return Info.calls(String.valueOf(command("INFO", "commandstats")), command);
    }

    /** Kills a launched server and deletes its files. Has no effect on the {@linkplain #provided() provided} one. */
    @Override
    public void close() {
        if (closeable) {
            process().close();
        }
    }

    @Override
    public String toString() {
        return "Redis " + host() + ":" + port();
    }

    private RedisProcess process() {
        if (process == null) {
            throw new UnsupportedOperationException(this + " is not ours to control; use RedisServer.launch()");
        }
        return process;
    }
}
