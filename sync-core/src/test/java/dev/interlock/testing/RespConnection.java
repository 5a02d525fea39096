package dev.interlock.testing;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/** One plain connection to Redis, so that a test can look at the server without the client under test. */
public final class RespConnection implements Closeable {

    private static final int DEFAULT_PORT = 6379;

    private final Socket socket;
    private final RespReader reader;

    private RespConnection(Socket socket) throws IOException {
        this.socket = socket;
        this.reader = new RespReader(socket.getInputStream());
    }

    /** Connects to a {@code redis://} or {@code rediss://} URL, signs in and selects its database. */
    public static RespConnection open(URI url, Duration timeout) throws IOException {
        int timeoutMillis = Math.toIntExact(timeout.toMillis());
        Socket socket =
                url.getScheme().equals("rediss") ? SSLSocketFactory.getDefault().createSocket() : new Socket();
        try {
            socket.setSoTimeout(timeoutMillis);
            socket.setTcpNoDelay(true);
            socket.connect(new InetSocketAddress(url.getHost(), port(url)), timeoutMillis);
            var connection = new RespConnection(socket);
            connection.enter(url);
            return connection;
        } catch (IOException | RespError e) {
            socket.close();
            throw e;
        }
    }

    static int port(URI url) {
        return url.getPort() < 0 ? DEFAULT_PORT : url.getPort();
    }

    private void enter(URI url) throws IOException {
        String userInfo = url.getUserInfo();
        if (userInfo != null) {
            int colon = userInfo.indexOf(':');
            String password = userInfo.substring(colon + 1);
            if (colon > 0) {
                call("AUTH", userInfo.substring(0, colon), password);
            } else {
                call("AUTH", password);
            }
        }
        String path = url.getPath();
        if (path != null && path.length() > 1) {
            call("SELECT", path.substring(1));
        }
    }

    /** Sends a command and returns its answer. */
    public @Nullable Object call(String... arguments) throws IOException {
        write(arguments);
        return read();
    }

    /** Sends a command without waiting for its answer. */
    void write(String... arguments) throws IOException {
        write(encode(List.of(arguments)));
    }

    void write(byte[] command) throws IOException {
        socket.getOutputStream().write(command);
    }

    /** Waits for the next answer or message. */
    @Nullable
    Object read() throws IOException {
        if (!reader.next()) {
            throw new EOFException("Redis closed the connection");
        }
        if (reader.value() instanceof RespError error) {
            throw new RespError(error.getMessage());
        }
        return reader.value();
    }

    private static byte[] encode(List<String> arguments) {
        var bytes = new ByteArrayOutputStream();
        bytes.writeBytes(("*" + arguments.size() + "\r\n").getBytes(StandardCharsets.US_ASCII));
        for (String argument : arguments) {
            byte[] blob = argument.getBytes(StandardCharsets.UTF_8);
            bytes.writeBytes(("$" + blob.length + "\r\n").getBytes(StandardCharsets.US_ASCII));
            bytes.writeBytes(blob);
            bytes.writeBytes(new byte[] {'\r', '\n'});
        }
        return bytes.toByteArray();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
