package dev.interlock;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.Objects.requireNonNull;

import com.google.common.base.CharMatcher;
import com.google.common.primitives.Ints;
import com.google.common.util.concurrent.MoreExecutors;
import dev.interlock.internal.Names;
import dev.interlock.internal.redis.Failures;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.Config;

/**
 * Where Redis is: the address of a server, or those of sentinels or of nodes of a cluster; with credentials, unless
 * these are stated apart.
 */
final class RedisUri {
    private enum Topology {
        SERVER,
        SENTINELS,
        CLUSTER
    }

    private static final String FORMS = "redis://[user:password@]host[:port][/database],"
            + " redis-sentinel://[user:password@]host[:port],…/master[/database]"
            + " or redis-cluster://[user:password@]host[:port],…, each also with rediss for TLS";

    private static final Pattern SCHEME = Pattern.compile("((?:redis|valkey)s?)(?:-(sentinel|cluster|socket))?://");
    private static final CharMatcher AFTER_HOSTS = CharMatcher.anyOf("/?#");
    private static final Pattern DATABASE = Pattern.compile("\\d{1,9}");
    private static final int REDISSON_THREADS = 32;
    private static final int CLEAR_MILLIS = 1_000;
    private static final int PORT = 6379;
    private static final int SENTINEL_PORT = 26379;

    /** The URI as it may be shown. */
    private final String shown;

    /** That of each address: {@code redis}, {@code rediss}, {@code valkey} or {@code valkeys}. */
    private final String protocol;

    private final Topology topology;
    private final List<InetSocketAddress> nodes;

    /** The name by which the sentinels know the master, or the empty string. */
    private final String master;

    private final int database;
    private final @Nullable String user;
    private final @Nullable String password;

    /**
     * Parses a URI of one of the forms that {@link InterlockBuilder#uri} describes.
     *
     * @throws IllegalArgumentException if it has another form; the message shows no more of it than the scheme
     */
    static RedisUri parse(String uri) {
        requireNonNull(uri, "uri");
        try {
            return new RedisUri(uri);
        } catch (URISyntaxException e) {
            // The exception's message contains the whole URI with its password, so it isn't the cause.
            throw new IllegalArgumentException(
                    "uri '" + schemeOf(uri) + "' isn't understood: " + e.getReason() + "; it must be " + FORMS);
        }
    }

    private RedisUri(String uri) throws URISyntaxException {
        Matcher scheme = SCHEME.matcher(uri);
        check(scheme.lookingAt(), "it must begin with redis:// or one of the other schemes");
        check(
                !"socket".equals(scheme.group(2)),
                "Redisson reaches a unix socket only with Netty's native epoll or kqueue transport; configure such a"
                        + " client, with a redis+uds:// address, and give it to client()");
        protocol = scheme.group(1);
        topology = topology(scheme.group(2));
        List<URI> parts = split(uri, scheme.end());
        check(
                parts.size() == 1 || topology != Topology.SERVER,
                "only the schemes of sentinels and clusters take more than one host");
        nodes = new ArrayList<>();
        for (URI part : parts) {
            nodes.add(address(part));
        }
        URI first = parts.get(0);
        check(first.getQuery() == null && first.getFragment() == null, "it must have neither a query nor a fragment");
        String[] path = String.valueOf(first.getRawPath()).split("/", 0);
        check(topology != Topology.CLUSTER || path.length <= 1, "a cluster has no databases to choose from");
        int names = topology == Topology.SENTINELS ? 1 : 0;
        master = names == 1 && path.length > 1 ? decoded(path[1]) : "";
        check(names == 0 || !master.isEmpty(), "the master's name is missing, as in redis-sentinel://host/name");
        database = path.length > names + 1 ? database(path[names + 1]) : 0;
        check(path.length <= names + 2, "nothing may follow the database");
        String credentials = first.getRawUserInfo();
        // User and password are decoded separately, since a user name may contain an encoded colon.
        int colon = credentials == null ? -1 : credentials.indexOf(':');
        user = credentials == null || colon <= 0 ? null : decoded(credentials.substring(0, colon));
        password = credentials == null ? null : decoded(credentials.substring(colon + 1));
        shown = withoutCredentials(uri, scheme.end());
    }

    private static void check(boolean holds, String otherwise) throws URISyntaxException {
        if (!holds) {
            throw new URISyntaxException("uri", otherwise);
        }
    }

    private static Topology topology(@Nullable String suffix) {
        if (suffix == null) {
            return Topology.SERVER;
        }
        return suffix.equals("sentinel") ? Topology.SENTINELS : Topology.CLUSTER;
    }

    /** Returns a URI for each of the hosts, which has all the rest in common with the others. */
    private static List<URI> split(String uri, int start) throws URISyntaxException {
        int after = AFTER_HOSTS.indexIn(uri, start);
        int end = after < 0 ? uri.length() : after;
        int hosts = Math.max(start, uri.substring(0, end).lastIndexOf('@') + 1);
        List<URI> parts = new ArrayList<>();
        for (String host : uri.substring(hosts, end).split(",", -1)) {
            check(!host.endsWith(":"), "a port is missing after its colon");
            parts.add(new URI(uri.substring(0, hosts) + host + uri.substring(end)).parseServerAuthority());
        }
        return parts;
    }

    private InetSocketAddress address(URI part) throws URISyntaxException {
        check(part.getHost() != null, "a host is missing");
        int port = part.getPort();
        check(port == -1 || (port > 0 && port < 65536), "a port must be from 1 to 65535");
        int missing = topology == Topology.SENTINELS ? SENTINEL_PORT : PORT;
        return InetSocketAddress.createUnresolved(part.getHost(), port == -1 ? missing : port);
    }

    private static int database(String number) throws URISyntaxException {
        check(DATABASE.matcher(number).matches(), "the database must be a number, 0 or more");
        return Integer.parseInt(number);
    }

    private static String decoded(String part) {
        return URI.create("/" + part).getPath().substring(1);
    }

    /** Returns what may be shown of a URI that is understood: all but the credentials. */
    private static String withoutCredentials(String uri, int start) {
        int hosts = uri.lastIndexOf('@') + 1;
        return Names.escaped(uri.substring(0, start) + (hosts > 0 ? "…@" : "") + uri.substring(Math.max(start, hosts)));
    }

    /**
     * Returns what may be shown of one that isn't: its scheme. Nobody can tell which part of the rest is the password.
     */
    private static String schemeOf(String uri) {
        Matcher scheme = SCHEME.matcher(uri);
        return (scheme.lookingAt() ? scheme.group() : "") + "…";
    }

    boolean isEncrypted() {
        return protocol.equals("rediss") || protocol.equals("valkeys");
    }

    /** Returns whether nobody else can take the place of a server that isn't there. */
    boolean isOneServer() {
        return topology == Topology.SERVER;
    }

    boolean hasCredentials() {
        return password != null;
    }

    /**
     * Connects with the credentials and certificates of the given configuration.
     *
     * @param lazy whether the session is to be opened without Redis
     * @param transport the connections of the session: with ones of its own to a single server it may not need those of
     *     the client, which connects when it is first used
     * @throws RedisUnavailableException if Redis can't be reached
     */
    RedissonClient connect(
            Config access, Duration commandTimeout, String sessionName, boolean lazy, Transport transport) {
        int timeoutMillis = Ints.constrainToRange(Ints.saturatedCast(commandTimeout.toMillis()), 1_000, 10_000);
        if (isEncrypted() && !lazy) {
            checkEncryption(access.getSslTrustManagerFactory(), timeoutMillis);
        }
        try {
            boolean isLater = lazy || (transport == Transport.DIRECT && isOneServer());
            return Redisson.create(config(access, timeoutMillis, sessionName, isLater));
        } catch (RedisException e) {
            throw unavailable(e);
        }
    }

    /** Returns the configuration of a client for this address. */
    Config config(Config access, int timeoutMillis, String sessionName, boolean lazy) {
        Config config = new Config(access);
        config.setCodec(StringCodec.INSTANCE);
        config.setLazyInitialization(lazy);
        // Our message listeners don't block, so messages are delivered on the connection's own thread.
        config.setExecutor(MoreExecutors.newDirectExecutorService());
        // Commands use all connections, and so all of these threads, in turn. With many threads each one idles for long
        // and starts cold.
        config.setNettyThreads(Ints.constrainToRange(Runtime.getRuntime().availableProcessors(), 2, REDISSON_THREADS));
        if (password != null) {
            config.setUsername(user);
            config.setPassword(password);
        }
        BaseConfig<?> servers = servers(config);
        // The thread that opens the session waits for one attempt; a lazy session makes others by itself.
        servers.setConnectTimeout(timeoutMillis).setTimeout(timeoutMillis).setRetryAttempts(0);
        servers.setPingConnectionInterval(10_000);
        servers.setClientName(sessionName);
        return config;
    }

    private BaseConfig<?> servers(Config config) {
        String[] addresses = nodes.stream()
                .map(node -> protocol + "://" + node.getHostString() + ":" + node.getPort())
                .toArray(String[]::new);
        return switch (topology) {
            case SERVER -> config.useSingleServer().setAddress(addresses[0]).setDatabase(database);
            case SENTINELS ->
                // It suffices that one of them answers. The password is theirs too, if they ask for one.
                config.useSentinelServers()
                        .setMasterName(master)
                        .setDatabase(database)
                        .setCheckSentinelsList(false)
                        .setSentinelUsername(config.getUsername())
                        .addSentinelAddress(addresses);
            case CLUSTER -> config.useClusterServers().addNodeAddress(addresses);
        };
    }

    /**
     * Fails if the first server to be reached doesn't answer a TLS handshake. A Redis without TLS doesn't: it waits for
     * the rest of a command. Redisson would wait for 10 s each time it tries. Everything else is left to it.
     */
    private void checkEncryption(@Nullable TrustManagerFactory trusted, int timeoutMillis) {
        for (InetSocketAddress node : nodes) {
            try (Socket socket = new Socket()) {
                long start = System.nanoTime();
                socket.connect(new InetSocketAddress(node.getHostString(), node.getPort()), timeoutMillis);
                int left = timeoutMillis
                        - (int) Duration.ofNanos(System.nanoTime() - start).toMillis();
                socket.setSoTimeout(Math.max(1, left));
                shakeHands(socket, node, trusted);
                return;
            } catch (IOException e) {
                // There is no server, or one that does speak TLS.
            }
        }
    }

    private void shakeHands(Socket socket, InetSocketAddress node, @Nullable TrustManagerFactory trusted) {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(null, trusted == null ? null : trusted.getTrustManagers(), null);
            ((SSLSocket) context.getSocketFactory().createSocket(socket, node.getHostString(), node.getPort(), false))
                    .startHandshake();
        } catch (GeneralSecurityException | IOException e) {
            if (Failures.isSilence(e)) {
                if (speaksInClear(node)) {
                    throw unavailable(
                            "doesn't answer a TLS handshake; a port without TLS needs redis:// instead of rediss://",
                            new SSLHandshakeException("the port answers without TLS"));
                }
                throw unavailable("gave no answer to a TLS handshake", e);
            }
        }
    }

    /** Returns whether the port answers a command without TLS, be it by an error: then it takes no handshake. */
    private static boolean speaksInClear(InetSocketAddress node) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(node.getHostString(), node.getPort()), CLEAR_MILLIS);
            socket.setSoTimeout(CLEAR_MILLIS);
            socket.getOutputStream().write("PING\r\n".getBytes(US_ASCII));
            int first = socket.getInputStream().read();
            return first == '+' || first == '-';
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns what to throw if no connection could be made to this address. */
    RedisUnavailableException unavailable(Throwable cause) {
        return unavailable(Failures.whyUnreachable(cause), cause);
    }

    private RedisUnavailableException unavailable(String why, Throwable cause) {
        return new RedisUnavailableException("Redis at uri '" + shown + "' " + why, cause);
    }
}
