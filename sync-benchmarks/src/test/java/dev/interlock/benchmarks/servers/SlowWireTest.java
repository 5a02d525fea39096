package dev.interlock.benchmarks.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
                var client = connect(wire)) {
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
                var client = connect(wire)) {
            long startNanos = System.nanoTime();
            for (int i = 0; i < MANY; i++) {
                client.getOutputStream().write((i + "\n").getBytes(StandardCharsets.US_ASCII));
            }
            var lines = new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            for (int i = 0; i < MANY; i++) {
                assertThat(lines.readLine()).isEqualTo("" + i);
            }
            assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
                    .isBetween(Duration.ofMillis(5), Duration.ofSeconds(9));
        }
    }

    @Test
    void endOfOneSideIsHeardOnTheOther() throws IOException {
        try (var wire = wire(500);
                var client = connect(wire)) {
            client.shutdownOutput();
            assertThat(client.getInputStream().read()).isEqualTo(-1);
        }
    }

    /** Whoever names no port means that of Redis, and gets the delay nevertheless. */
    @ParameterizedTest
    @CsvSource({
        "redis://127.0.0.1,             redis://127.0.0.1:PORT",
        "redis://127.0.0.1/,            redis://127.0.0.1:PORT/",
        "redis://127.0.0.1:6379/2,      redis://127.0.0.1:PORT/2",
        "redis://us%40er:6379@127.0.0.1, redis://us%40er:6379@127.0.0.1:PORT",
        "rediss://localhost,            rediss://localhost:PORT",
        "rediss://:secret@localhost/1?a=b, rediss://:secret@localhost:PORT/1?a=b"
    })
    void addressIsThatOfTheWire(String redisUrl, String wireUrl) {
        try (var wire = SlowWire.before(redisUrl, 500)) {
            String port = String.valueOf(URI.create(wire.url()).getPort());
            assertThat(wire.url()).isEqualTo(wireUrl.replace("PORT", port));
            assertThat(wire).hasToString("500 µs to " + URI.create(redisUrl).getHost() + ":6379");
        }
    }

    /** The wire is on this machine, wherever the server is. */
    @Test
    void serverElsewhereIsReachedThroughThisMachine() {
        try (var wire = SlowWire.before("redis://192.0.2.1:7000", 500)) {
            assertThat(URI.create(wire.url()).getHost())
                    .isEqualTo(InetAddress.getLoopbackAddress().getHostAddress());
            assertThat(wire).hasToString("500 µs to 192.0.2.1:7000");
        }
    }

    @Test
    void certificateOfAnotherMachineHindersIt() {
        assertThat(SlowWire.hindrance("rediss://localhost")).isEmpty();
        assertThat(SlowWire.hindrance("redis://192.0.2.1")).isEmpty();
        assertThat(SlowWire.hindrance("rediss://user:secret@192.0.2.1"))
                .hasValueSatisfying(why ->
                        assertThat(why).contains("certificate of 192.0.2.1").doesNotContain("secret"));
        assertThat(SlowWire.hindrance("redis://user:secret@under_scored"))
                .hasValueSatisfying(
                        why -> assertThat(why).contains("no host name").doesNotContain("secret"));
        assertThatThrownBy(() -> SlowWire.before("rediss://192.0.2.1:7000", 500))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("certificate");
    }

    private SlowWire wire(long delayMicros) {
        return SlowWire.before("redis://127.0.0.1:" + echo.getLocalPort(), delayMicros);
    }

    private static Socket connect(SlowWire wire) throws IOException {
        URI url = URI.create(wire.url());
        return new Socket(url.getHost(), url.getPort());
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
