package dev.interlock.internal.redis.direct;

import com.google.common.net.InetAddresses;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.RedissonChannels;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.DefaultNettyHook;
import org.redisson.client.RedisClient;
import org.redisson.client.RedisClientConfig;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.config.Config;
import org.redisson.config.Credentials;
import org.redisson.config.DefaultCommandMapper;
import org.redisson.config.SslVerificationMode;
import org.redisson.misc.RedisURI;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The server that a Redisson client is to use: the one that it is configured with, for which it need not connect, or
 * the one that it takes for Sentinel's master at the moment.
 */
final class Endpoint implements Connector {
    private static final Logger log = LoggerFactory.getLogger(Endpoint.class);

    /** So many bytes at least are sent without the peer's taking any; see {@link Connection}. */
    static final int SEND_BUFFER = 64 * 1_024;

    /** How often the host of a single server is resolved again. */
    private static final long RESOLVE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final RedissonClient client;
    private final String threadName;

    /** Null if Sentinel says which one it is. */
    private final @Nullable RedisClient single;

    /** The addresses of its host, or null if it wasn't resolved again since the last connection was made. */
    private volatile @Nullable Set<InetAddress> resolved;

    /** A hint, so that updates may be lost. */
    private volatile long resolvedNanos = System.nanoTime() - RESOLVE_NANOS;

    Endpoint(RedissonClient client, String threadName) {
        this.client = client;
        this.threadName = threadName;
        this.single = client.getConfig().isSingleConfig() ? RedissonChannels.single(client) : null;
    }

    /** Returns what about a client can't be matched by connections of one's own, or null if they do for it. */
    static @Nullable String obstacle(RedissonClient client) {
        Config config = client.getConfig();
        if (!(client instanceof Redisson)) {
            return "the client is of another kind than org.redisson.Redisson";
        }
        if (!config.isSingleConfig() && !config.isSentinelConfig()) {
            return "it isn't a single server, nor watched by Sentinel";
        }
        if (!(config.getCommandMapper() instanceof DefaultCommandMapper)) {
            return "the client has a CommandMapper";
        }
        if (!(config.getNettyHook() instanceof DefaultNettyHook)) {
            return "the client has a NettyHook";
        }
        if (config.isSingleConfig() && config.useSingleServer().getAddress().contains("+uds")) {
            return "Redis is reached by a unix socket";
        }
        if (config.getSslKeystore() != null || config.getSslTruststore() != null) {
            return "the client takes its certificates from a URL";
        }
        return config.getSslVerificationMode() == SslVerificationMode.NONE
                ? "the client doesn't check certificates"
                : null;
    }

    /** Returns the server. Unless it is a single one, that may wait until the client has connected. */
    private RedisClient server() {
        if (single != null) {
            return single;
        }
        RedisClient master = RedissonChannels.master(client);
        if (master == null) {
            throw new RedisConnectionException("no master is known");
        }
        return master;
    }

    @Override
    public boolean hasMovedFrom(Wire wire) {
        if (single != null) {
            return hasMovedFrom(wire, single.getConfig().getAddress().getHost());
        }
        RedisClient master = RedissonChannels.master(client);
        return master != null && !wire.server.equals(master.getAddr());
    }

    private boolean hasMovedFrom(Wire wire, String host) {
        if (System.nanoTime() - resolvedNanos > RESOLVE_NANOS && !InetAddresses.isUriInetAddress(host)) {
            resolvedNanos = System.nanoTime();
            Threads.startIfPossible(threadName + "-resolves", () -> resolve(host));
        }
        Set<InetAddress> present = resolved;
        return present != null && !present.contains(wire.server.getAddress());
    }

    // A host that can't be resolved is no reason to leave a server that answers.
    private void resolve(String host) {
        try {
            resolved = Set.copyOf(Arrays.asList(InetAddress.getAllByName(host)));
        } catch (UnknownHostException e) {
            log.debug("{} can't be resolved", host, e);
        }
    }

    @Override
    public Wire connect() throws IOException {
        RedisClient server = server();
        RedisClientConfig config = server.getConfig();
        Socket raw = new Socket();
        try {
            raw.setTcpNoDelay(true);
            raw.setKeepAlive(true);
            raw.setSendBufferSize(SEND_BUFFER);
            InetSocketAddress address = address(config.getAddress());
            // Those that are known may be older than this one.
            resolved = null;
            raw.connect(address, config.getConnectTimeout());
            raw.setSoTimeout(config.getCommandTimeout());
            Socket socket = config.getAddress().isSsl() ? encrypted(raw, config) : raw;
            InetSocketAddress known = single == null ? Objects.requireNonNullElse(server.getAddr(), address) : address;
            Wire wire = new Wire(raw, socket, known);
            introduce(wire, config, credentials(config, known));
            socket.setSoTimeout(0);
            return wire;
        } catch (IOException | RuntimeException e) {
            Wire.close(raw);
            throw e;
        }
    }

    private static InetSocketAddress address(RedisURI uri) throws UnknownHostException {
        InetSocketAddress address = new InetSocketAddress(uri.getHost(), uri.getPort());
        if (address.isUnresolved()) {
            throw new UnknownHostException(uri.getHost());
        }
        return address;
    }

    private static Socket encrypted(Socket socket, RedisClientConfig config) throws IOException {
        String host = Objects.requireNonNullElse(
                config.getSslHostname(), config.getAddress().getHost());
        try {
            KeyManagerFactory keys = config.getSslKeyManagerFactory();
            TrustManagerFactory trusted = config.getSslTrustManagerFactory();
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(
                    keys == null ? null : keys.getKeyManagers(),
                    trusted == null ? null : trusted.getTrustManagers(),
                    null);
            SSLSocket encrypted =
                    (SSLSocket) context.getSocketFactory().createSocket(socket, host, socket.getPort(), true);
            SSLParameters parameters = encrypted.getSSLParameters();
            if (config.getSslVerificationMode() == SslVerificationMode.STRICT) {
                parameters.setEndpointIdentificationAlgorithm("HTTPS");
            }
            if (config.getSslProtocols() != null) {
                parameters.setProtocols(config.getSslProtocols());
            }
            if (config.getSslCiphers() != null) {
                parameters.setCipherSuites(config.getSslCiphers());
            }
            encrypted.setSSLParameters(parameters);
            encrypted.startHandshake();
            return encrypted;
        } catch (GeneralSecurityException e) {
            throw new IOException("TLS isn't to be had", e);
        }
    }

    // Asked for each time: they may be ones that are replaced.
    private static Credentials credentials(RedisClientConfig config, InetSocketAddress server) throws IOException {
        try {
            Credentials resolved = config.getCredentialsResolver()
                    .resolve(server)
                    .toCompletableFuture()
                    .get(config.getCommandTimeout(), TimeUnit.MILLISECONDS);
            return new Credentials(
                    first(config.getAddress().getUsername(), resolved.getUsername(), config.getUsername()),
                    first(config.getAddress().getPassword(), resolved.getPassword(), config.getPassword()));
        } catch (ExecutionException | CompletionException | TimeoutException e) {
            throw new IOException("the client's CredentialsResolver gave none", Failures.cause(e));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for credentials", e);
        }
    }

    private static @Nullable String first(
            @Nullable String inAddress, @Nullable String resolved, @Nullable String configured) {
        return inAddress != null ? inAddress : resolved != null ? resolved : configured;
    }

    private static void introduce(Wire wire, RedisClientConfig config, Credentials credentials) throws IOException {
        CommandBuffer commands = new CommandBuffer();
        int count = 1;
        if (credentials.getPassword() != null) {
            boolean named = credentials.getUsername() != null;
            command(
                    commands,
                    named
                            ? new Object[] {"AUTH", credentials.getUsername(), credentials.getPassword()}
                            : new Object[] {"AUTH", credentials.getPassword()});
            count++;
        }
        if (config.getDatabase() != 0) {
            command(commands, "SELECT", config.getDatabase());
            count++;
        }
        command(commands, "PING");
        boolean hasName = config.getClientName() != null;
        if (hasName) {
            command(commands, "CLIENT", "SETNAME", config.getClientName());
        }
        commands.writeTo(wire.out);
        for (int i = 0; i < count; i++) {
            if (wire.in.read() instanceof RedisException error) {
                throw error;
            }
        }
        if (hasName) {
            // A user without the right to name himself works as well.
            wire.in.read();
        }
    }

    private static void command(CommandBuffer commands, Object... parts) {
        commands.command(parts.length);
        for (Object part : parts) {
            commands.part(part);
        }
    }
}
