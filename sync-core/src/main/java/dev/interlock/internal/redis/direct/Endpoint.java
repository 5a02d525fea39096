package dev.interlock.internal.redis.direct;

import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.RedissonChannels;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.security.GeneralSecurityException;
import java.util.Objects;
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

/** The server that a Redisson client uses at the moment, which may be another one after a failover. */
final class Endpoint implements Connector {
    /** So many bytes at least are sent without the peer's taking any; see {@link Connection}. */
    static final int SEND_BUFFER = 64 * 1_024;

    private final RedissonClient client;

    Endpoint(RedissonClient client) {
        this.client = client;
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

    /** Returns the server that the client takes for the master. May wait until the client has connected. */
    private RedisClient master() {
        RedisClient master = RedissonChannels.master(client);
        if (master == null) {
            throw new RedisConnectionException("no master is known");
        }
        return master;
    }

    @Override
    public boolean hasMovedFrom(Wire wire) {
        RedisClient master = RedissonChannels.master(client);
        return master != null && !wire.isTo(master.getAddr());
    }

    @Override
    public Wire connect() throws IOException {
        RedisClient master = master();
        RedisClientConfig config = master.getConfig();
        Socket raw = new Socket();
        try {
            raw.setTcpNoDelay(true);
            raw.setKeepAlive(true);
            raw.setSendBufferSize(SEND_BUFFER);
            raw.connect(address(config), config.getConnectTimeout());
            raw.setSoTimeout(config.getCommandTimeout());
            Socket socket = config.getAddress().isSsl() ? encrypted(raw, config) : raw;
            Wire wire = new Wire(raw, socket, master.getAddr());
            introduce(wire, config, credentials(master));
            socket.setSoTimeout(0);
            return wire;
        } catch (IOException | RuntimeException e) {
            Wire.close(raw);
            throw e;
        }
    }

    private static InetSocketAddress address(RedisClientConfig config) throws UnknownHostException {
        RedisURI uri = config.getAddress();
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
    private static Credentials credentials(RedisClient master) throws IOException {
        RedisClientConfig config = master.getConfig();
        try {
            Credentials resolved = config.getCredentialsResolver()
                    .resolve(master.getAddr())
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
