package dev.interlock.benchmarks;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A wire of a given length before a server: what goes in comes out in order, half a round trip later in each direction. It holds as much as
 * anybody puts in, so that what is sent in one go arrives in one go.
 */
final class SlowWire implements AutoCloseable {

    private static final int LARGEST_PIECE = 64 * 1024;

    private final ServerSocket listener;
    private final String host;
    private final int port;
    private final long halfNanos;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();

    private SlowWire(String host, int port, long delayMicros) {
        this.host = host;
        this.port = port;
        this.halfNanos = delayMicros * 1_000 / 2;
        try {
            this.listener = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Lays one.
     *
     * @param delayMicros what it adds to a round trip
     */
    static SlowWire to(String host, int port, long delayMicros) {
        var wire = new SlowWire(host, port, delayMicros);
        daemon("wire-listener", wire::listen);
        return wire;
    }

    /** Where clients connect to instead of the server. */
    int port() {
        return listener.getLocalPort();
    }

    @Override
    public void close() {
        cut(listener);
        open.forEach(SlowWire::cut);
    }

    private void listen() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                open.add(client);
                var server = new Socket(host, port);
                open.add(server);
                connect(client, server);
                connect(server, client);
            } catch (IOException e) {
                // Either the wire is closed, which ends the loop, or one end is gone, which is nobody else's matter.
            }
        }
    }

    private void connect(Socket from, Socket to) throws IOException {
        from.setTcpNoDelay(true);
        var pieces = new LinkedBlockingQueue<Piece>();
        daemon("wire-in", () -> take(from, pieces));
        daemon("wire-out", () -> give(pieces, to));
    }

    private void take(Socket from, BlockingQueue<Piece> pieces) {
        byte[] buffer = new byte[LARGEST_PIECE];
        try (InputStream in = from.getInputStream()) {
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                pieces.add(new Piece(Arrays.copyOf(buffer, length), System.nanoTime() + halfNanos));
            }
        } catch (IOException e) {
            // One end is gone; the other one hears of it below.
        }
        pieces.add(new Piece(new byte[0], System.nanoTime() + halfNanos));
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
