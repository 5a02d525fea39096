package dev.interlock.internal.redis.direct;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A socket to a server that has accepted this client. */
final class Wire implements Closeable {
    private static final Logger log = LoggerFactory.getLogger(Wire.class);

    final Socket socket;

    /** Beneath TLS: to close an encrypted socket may take as long as a write that is going on. */
    private final Socket raw;

    final OutputStream out;
    final ReplyReader in;

    /** By which the server is known. */
    final InetSocketAddress server;

    /**
     * Creates a wire.
     *
     * @param socket the same as {@code raw}, or the encrypted one that uses it
     * @param server the address by which the server is known
     */
    Wire(Socket raw, Socket socket, InetSocketAddress server) throws IOException {
        this.raw = raw;
        this.socket = socket;
        this.server = server;
        this.out = socket.getOutputStream();
        this.in = new ReplyReader(socket.getInputStream());
    }

    @Override
    public void close() {
        close(raw);
    }

    static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            log.debug("A socket could not be closed", e);
        }
    }

    @Override
    public String toString() {
        return raw.getInetAddress().getHostAddress() + ":" + raw.getPort();
    }
}
