package dev.interlock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class SlowWireTest {

    private static final int MANY = 2_000;

    private ServerSocket echo = unbound();

    @BeforeEach
    void startEcho() throws IOException {
        echo = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        var thread = new Thread(this::serve, "echo");
        thread.setDaemon(true);
        thread.start();
    }

    @AfterEach
    void endEcho() throws IOException {
        echo.close();
    }

    @Test
    void roundTripTakesAsMuchLonger() throws IOException {
        try (var wire = wire(2_000);
                var client = new Socket(InetAddress.getLoopbackAddress(), wire.port())) {
            for (int i = 0; i < 20; i++) {
                long startNanos = System.nanoTime();
                client.getOutputStream().write(i);
                assertThat(client.getInputStream().read()).isEqualTo(i);
                assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
                        .isGreaterThanOrEqualTo(Duration.ofMillis(2));
            }
        }
    }

    /** One after the other they would take ten seconds. */
    @Test
    void whatIsSentAtOnceKeepsItsOrderAndIsDelayedOnce() throws IOException {
        try (var wire = wire(5_000);
                var client = new Socket(InetAddress.getLoopbackAddress(), wire.port())) {
            long startNanos = System.nanoTime();
            for (int i = 0; i < MANY; i++) {
                client.getOutputStream().write((i + "\n").getBytes(StandardCharsets.US_ASCII));
            }
            var lines = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            for (int i = 0; i < MANY; i++) {
                assertThat(lines.readLine()).isEqualTo("" + i);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
                    .isBetween(Duration.ofMillis(5), Duration.ofSeconds(5));
        }
    }

    @Test
    void endOfOneSideIsHeardOnTheOther() throws IOException {
        try (var wire = wire(500);
                var client = new Socket(InetAddress.getLoopbackAddress(), wire.port())) {
            client.shutdownOutput();
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    private SlowWire wire(long delayMicros) {
        return SlowWire.to(InetAddress.getLoopbackAddress().getHostAddress(), echo.getLocalPort(), delayMicros);
    }

    private void serve() {
        try (Socket client = echo.accept()) {
            client.setTcpNoDelay(true);
            client.getInputStream().transferTo(client.getOutputStream());
        } catch (IOException e) {
            // The test is over.
        }
    }

    private static ServerSocket unbound() {
        try {
            return new ServerSocket();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
