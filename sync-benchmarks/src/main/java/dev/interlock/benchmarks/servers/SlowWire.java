package dev.interlock.benchmarks.servers;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A wire of a given length before a Redis: what goes in comes out in order, half a round trip later in each direction.
 * It holds as much as anybody puts in, so that what is sent in one go arrives in one go.
 */
public final class SlowWire implements AutoCloseable {

    private static final int LARGEST_PIECE = 64 * 1024;

    private static final int REDIS_PORT = 6379;
    private static final String TLS = "rediss";

    private final URI server;
    private final long delayMicros;
    private final InetAddress here;
    private final ServerSocket listener;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    private SlowWire(URI server, long delayMicros) {
        this.server = server;
        this.delayMicros = delayMicros;
        try {
            InetAddress host = InetAddress.getByName(server.getHost());
            this.here = host.isLoopbackAddress() ? host : InetAddress.getLoopbackAddress();
            this.listener = new ServerSocket(0, 128, here);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Why there can be no wire before a Redis: its name can't be read, or its certificate is for that name, under which
     * clients don't find the wire.
     *
     * @param redisUrl as Redisson takes it
     */
    public static Optional<String> hindrance(String redisUrl) {
        URI server = URI.create(redisUrl);
        if (server.getHost() == null) {
            return Optional.of("there is no host name in the address of Redis");
        }
        if (TLS.equals(server.getScheme()) && !isHere(server.getHost())) {
            return Optional.of("the certificate of " + server.getHost() + " doesn't hold for a proxy on this machine");
        }
        return Optional.empty();
    }

    private static boolean isHere(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Lays one before a Redis, where nothing {@linkplain #hindrance hinders} it.
     *
     * @param redisUrl as Redisson takes it; without a port it is Redis's own
     * @param delayMicros what it adds to a round trip
     */
    public static SlowWire before(String redisUrl, long delayMicros) {
        Optional<String> hindrance = hindrance(redisUrl);
        if (hindrance.isPresent()) {
            throw new IllegalArgumentException(hindrance.get());
        }
        var wire = new SlowWire(URI.create(redisUrl), delayMicros);
        daemon("wire-listener", wire::listen);
        return wire;
    }

    /**
     * Where clients connect to instead of the server: the rest of its address stays as it is, user and password among
     * it.
     */
    public String url() {
        String user = server.getRawUserInfo() == null ? "" : server.getRawUserInfo() + "@";
        String query = server.getRawQuery() == null ? "" : "?" + server.getRawQuery();
        return server.getScheme() + "://" + user + host() + ":" + listener.getLocalPort() + server.getRawPath() + query;
    }

    // On this machine the name stays, for a certificate holds for a name.
    private String host() {
        if (TLS.equals(server.getScheme())) {
            return server.getHost();
        }
        return here instanceof Inet6Address ? "[" + here.getHostAddress() + "]" : here.getHostAddress();
    }

    private int port() {
        return server.getPort() < 0 ? REDIS_PORT : server.getPort();
    }

    @Override
    public void close() {
        cut(listener);
        open.forEach(SlowWire::cut);
    }

    @Override
    public String toString() {
        return delayMicros + " µs to " + server.getHost() + ":" + port();
    }

    private void listen() {
        while (!listener.isClosed()) {
            try {
                extend(listener.accept());
            } catch (IOException e) {
                // Either the wire is closed, which ends the loop, or one end is gone, which is nobody else's matter.
            }
        }
    }

    private void extend(Socket client) throws IOException {
        open.add(client);
        try {
            var end = new Socket(server.getHost(), port());
            open.add(end);
            connect(client, end);
            connect(end, client);
        } catch (IOException e) {
            cut(client); // or it would wait for an answer
            throw e;
        }
    }

    private void connect(Socket from, Socket to) throws IOException {
        from.setTcpNoDelay(true);
        var pieces = new LinkedBlockingQueue<Piece>();
        daemon("wire-in", () -> take(from, pieces));
        daemon("wire-out", () -> give(pieces, to));
    }

    private long halfNanos() {
        return delayMicros * 1_000 / 2;
    }

    private void take(Socket from, BlockingQueue<Piece> pieces) {
        byte[] buffer = new byte[LARGEST_PIECE];
        try (InputStream in = from.getInputStream()) {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                pieces.add(new Piece(Arrays.copyOf(buffer, length), System.nanoTime() + halfNanos()));
            }
        } catch (IOException e) {
            // One end is gone; the other one hears of it below.
        }
        pieces.add(new Piece(new byte[0], System.nanoTime() + halfNanos()));
    }

    private static void give(BlockingQueue<Piece> pieces, Socket to) {
        try (OutputStream out = to.getOutputStream()) {
            for (Piece piece = pieces.take(); piece.bytes.length > 0; piece = pieces.take()) {
                piece.awaitDue();
                out.write(piece.bytes);
            }
        } catch (IOException e) {
            // The receiver is gone; the sender hears of it when its own direction ends.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        cut(to);
    }

    private static void cut(AutoCloseable end) {
        try {
            end.close();
        } catch (Exception e) {
            throw new IllegalStateException("Cannot close " + end, e);
        }
    }

    private static void daemon(String name, Runnable task) {
        var thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }

    private static final class Piece {

        private final byte[] bytes;
        private final long dueNanos;

        Piece(byte[] bytes, long dueNanos) {
            this.bytes = bytes;
            this.dueNanos = dueNanos;
        }

        void awaitDue() {
            for (long left = dueNanos - System.nanoTime(); left > 0; left = dueNanos - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
        }
    }
}
