package dev.interlock.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/** Addresses and ports of this machine that nobody outside it can reach. */
final class Loopback {

    static final String HOST = "127.0.0.1";

    private static final byte[] ADDRESS = {127, 0, 0, 1};

    private static final int FIRST_PORT = 10_000;
    private static final int PORTS = 12_000;
    private static final int CLUSTER_BUS_OFFSET = 10_000;
    private static final int MAX_ATTEMPTS = 1_000;

    private Loopback() {}

    /**
     * A port that is free right now, and whose Redis cluster bus port is free as well.
     *
     * <p>It lies below the ephemeral ports of every usual system. The port of a killed server can therefore neither be
     * taken by somebody's outgoing connection, nor can a client that keeps reconnecting to it end up connected to
     * itself.
     */
    static int freePort() {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            int port = FIRST_PORT + ThreadLocalRandom.current().nextInt(PORTS);
            if (isFree(port) && isFree(port + CLUSTER_BUS_OFFSET)) {
                return port;
            }
        }
        throw new IllegalStateException("No free port from " + FIRST_PORT + " to " + (FIRST_PORT + PORTS));
    }

    static ServerSocket listen(int port) throws IOException {
        var socket = new ServerSocket();
        try {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getByAddress(ADDRESS), port), 1024);
            return socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    private static boolean isFree(int port) {
        try (var socket = listen(port)) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }
}
