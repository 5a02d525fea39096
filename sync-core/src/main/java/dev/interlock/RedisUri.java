package dev.interlock;

import static java.util.Objects.requireNonNull;

import com.google.common.primitives.Ints;
import com.google.common.util.concurrent.MoreExecutors;
import dev.interlock.internal.redis.Failures;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Set;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/** The address of a single Redis server. */
final class RedisUri {
    private static final Set<String> SCHEMES = Set.of("redis", "rediss", "valkey", "valkeys");
    private static final int REDISSON_THREADS = 32;

    private RedisUri() {}

    /**
     * Returns the URI if it has the form {@code redis://[user:password@]host:port[/database]} or {@code rediss://…}.
     *
     * @throws IllegalArgumentException if it has another form; the message leaves out the password
     */
    static String checked(String uri) {
        requireNonNull(uri, "uri");
        String why = "";
        try {
            URI parsed = new URI(uri);
            boolean addressed = parsed.getHost() != null && parsed.getPort() > 0 && parsed.getPort() < 65536;
            boolean understood = parsed.getQuery() == null && parsed.getFragment() == null;
            if (addressed && understood && SCHEMES.contains(parsed.getScheme()) && database(parsed) >= 0) {
                return uri;
            }
            if (parsed.getHost() != null && parsed.getPort() == -1) {
                why = " (the port is missing)";
            }
        } catch (URISyntaxException e) {
            // The exception's message contains the whole URI with its password, so it isn't the cause.
            why = " (" + e.getReason() + " at index " + e.getIndex() + ")";
        } catch (NumberFormatException e) {
            why = " (the database is no number)";
        }
        throw new IllegalArgumentException(
                "uri must be redis://[user:password@]host:port[/database] or rediss://…, but is '"
                        + withoutPassword(uri) + "'" + why);
    }

    static boolean isEncrypted(String uri) {
        return uri.startsWith("rediss:") || uri.startsWith("valkeys:");
    }

    static boolean hasCredentials(String uri) {
        return URI.create(uri).getRawUserInfo() != null;
    }

    /**
     * Connects to a checked URI with the credentials and certificates of the given configuration.
     *
     * @throws RedisUnavailableException if Redis can't be reached
     */
    static RedissonClient connect(String uri, Config access, Duration commandTimeout) {
        URI parsed = URI.create(uri);
        Config config = new Config(access);
        config.setCodec(StringCodec.INSTANCE);
        // Our message listeners don't block, so messages are delivered on the connection's own thread.
        config.setExecutor(MoreExecutors.newDirectExecutorService());
        // Commands use all connections, and so all of these threads, in turn. With many threads each one idles for long
        // and starts cold.
        config.setNettyThreads(Ints.constrainToRange(Runtime.getRuntime().availableProcessors(), 2, REDISSON_THREADS));
        SingleServerConfig server = config.useSingleServer()
                .setAddress(parsed.getScheme() + "://" + parsed.getHost() + ":" + parsed.getPort())
                .setDatabase(database(parsed));
        server.setConnectTimeout((int) Math.min(10_000, Math.max(1_000, commandTimeout.toMillis())));
        server.setPingConnectionInterval(10_000);
        String credentials = parsed.getRawUserInfo();
        if (credentials != null) {
            int colon = credentials.indexOf(':');
            if (colon > 0) {
                config.setUsername(decoded(credentials.substring(0, colon)));
            }
            config.setPassword(decoded(credentials.substring(colon + 1)));
        }
        try {
            return Redisson.create(config);
        } catch (RedisException e) {
            throw new RedisUnavailableException(
                    "Redis at uri '" + withoutPassword(uri) + "' " + Failures.whyUnreachable(e), e);
        }
    }

    // User and password are decoded separately, since a user name may contain an encoded colon.
    private static String decoded(String part) {
        return URI.create("redis://" + part + "@host").getUserInfo();
    }

    private static int database(URI uri) {
        String path = uri.getPath();
        return path == null || path.length() <= 1 ? 0 : Integer.parseInt(path.substring(1));
    }

    private static String withoutPassword(String uri) {
        String tail = uri.substring(uri.lastIndexOf('@') + 1);
        int query = tail.indexOf('?');
        return (tail.length() < uri.length() ? "…@" : "") + (query < 0 ? tail : tail.substring(0, query) + "?…");
    }
}
