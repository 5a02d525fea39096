package dev.interlock.lifecycle;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A Redis that is slow isn't taken for one that is absent; and the message says which of them it is. */
class OpeningTest {
    private static final Duration PATIENCE = Duration.ofMinutes(1);
    private static final RedisServer REDIS = RedisServer.launch();

    @AfterAll
    static void close() {
        REDIS.close();
    }

    private static InterlockBuilder hasty(String uri) {
        return Interlock.builder().uri(uri).commandTimeout(Duration.ofSeconds(1));
    }

    /** A server that accepts connections, counts them, and answers each command by the same line, or never. */
    private static final class Stub implements AutoCloseable {
        private final ServerSocket socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        private final AtomicInteger connections = new AtomicInteger();
        private final List<Socket> accepted = new CopyOnWriteArrayList<>();
        private final String line;

        Stub(String line) throws IOException {
            this.line = line;
            begin(() -> {
                while (true) {
                    Socket client = socket.accept();
                    connections.incrementAndGet();
                    accepted.add(client);
                    begin(() -> answer(client));
                }
            });
        }

        private interface Work {
            void run() throws IOException;
        }

        private static void begin(Work work) {
            var thread = new Thread(() -> {
                try {
                    work.run();
                } catch (IOException e) {
                    Thread.currentThread().interrupt(); // it is over
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private void answer(Socket client) throws IOException {
            byte[] request = new byte[4096];
            for (int n = client.getInputStream().read(request);
                    n > 0;
                    n = client.getInputStream().read(request)) {
                if (!line.isEmpty()) {
                    client.getOutputStream().write((line + "\r\n").getBytes(US_ASCII));
                }
            }
        }

        String address() {
            return "127.0.0.1:" + socket.getLocalPort();
        }

        @Override
        public void close() throws IOException {
            socket.close();
            for (Socket client : accepted) {
                client.close();
            }
        }
    }

    /** The second attempt, at the latest, finds Redis as busy as the first one did. */
    @Test
    void aRedisThatIsSlowIsWaitedFor() {
        try (FaultProxy proxy = FaultProxy.to(REDIS);
                Actor opener = new Actor("opener")) {
            proxy.stall();
            CompletableFuture<Boolean> opened = opener.ask(() -> {
                hasty(proxy.url()).open().close();
                return true;
            });
            await("an attempt that has failed")
                    .pollInterval(Duration.ofMillis(10)) // it pauses for 200 ms
                    .atMost(PATIENCE)
                    .until(() -> isBetweenAttempts(opener.thread()));
            proxy.heal();
            assertThat(opened).succeedsWithin(PATIENCE).isEqualTo(true);
        }
    }

    /** It sleeps there, and isn't called from there. */
    private static boolean isBetweenAttempts(Thread thread) {
        return Stream.of(thread.getStackTrace())
                .limit(4)
                .anyMatch(frame -> frame.getClassName().equals("dev.interlock.Opening"));
    }

    /** The same of a client that the application has. */
    @Test
    @Tag("proof")
    void aClientOfTheApplicationsIsWaitedForToo() {
        try (FaultProxy proxy = FaultProxy.to(REDIS);
                Actor opener = new Actor("opener")) {
            Config config = new Config();
            config.useSingleServer()
                    .setAddress(proxy.url())
                    .setConnectionMinimumIdleSize(1)
                    .setTimeout(2_000)
                    .setRetryAttempts(0)
                    .setSubscriptionTimeout(2_000);
            RedissonClient client = Redisson.create(config);
            try {
                proxy.stall();
                CompletableFuture<Boolean> opened = opener.ask(() -> {
                    Interlock.using(client).close();
                    return true;
                });
                await("an attempt that has failed")
                        .atMost(PATIENCE)
                        .until(() -> opened.isDone() || isBetweenAttempts(opener.thread()));
                proxy.heal();
                assertThat(opened).succeedsWithin(PATIENCE).isEqualTo(true);
            } finally {
                client.shutdown();
            }
        }
    }

    @Test
    void aRefusedConnectionIsToldAtOnce() {
        assertThatThrownBy(() -> hasty("redis://127.0.0.1:1").open())
                .isInstanceOf(RedisUnavailableException.class)
                .hasMessage("Redis at uri 'redis://127.0.0.1:1' can't be reached: Connection refused");
    }

    @Test
    void aWrongPasswordIsToldAtOnce() {
        try (RedisServer server = RedisServer.launch()) {
            server.command("CONFIG", "SET", "requirepass", "another");
            String address = server.host() + ":" + server.port();
            assertThatThrownBy(() -> hasty("redis://:wrong@" + address).open())
                    .isInstanceOf(RedisUnavailableException.class)
                    .hasMessageStartingWith(
                            "Redis at uri 'redis://…@" + address + "' refuses the connection: WRONGPASS")
                    .hasMessageNotContaining("attempt");
            assertThatThrownBy(() -> hasty("redis://" + address).open())
                    .hasMessageContaining("refuses the connection: NOAUTH")
                    .hasMessageNotContaining("attempt");
        }
    }

    /** What answers in clear won't answer a handshake later. */
    @Test
    void aPortWithoutTlsIsToldAtOnce() {
        assertThatThrownBy(() -> hasty("rediss://127.0.0.1:" + REDIS.port()).open())
                .hasMessageContaining("doesn't answer a TLS handshake")
                .hasMessageContaining("redis://")
                .hasMessageNotContaining("attempt");
    }

    @Test
    @Tag("proof")
    void silenceIsToldWithTheTimeAndTheAttempts() throws IOException {
        assertThat(silence("redis://", "")).containsPattern("' gave no answer for \\d+ s");
        assertThat(silence("rediss://", "")).containsPattern("' gave no answer to a TLS handshake for \\d+ s");
    }

    private static String silence(String scheme, String line) throws IOException {
        try (Stub stub = new Stub(line)) {
            Throwable failure =
                    catchThrowable(() -> hasty(scheme + stub.address()).open());
            assertThat(failure).isInstanceOf(RedisUnavailableException.class);
            assertThat(stub.connections).hasValueGreaterThan(2);
            assertThat(failure.getMessage())
                    .startsWith("Redis at uri '" + scheme + stub.address() + "' ")
                    .containsPattern("\\d+ s \\(\\d+ attempts\\)$")
                    .doesNotContain("…");
            return String.valueOf(failure.getMessage());
        }
    }

    @Test
    @Tag("proof")
    void whatPassesIsToldInTheWordsOfRedis() throws IOException {
        assertThat(silence("redis://", "-LOADING Redis is loading the dataset in memory"))
                .contains("can't be reached: LOADING Redis is loading the dataset in memory; tried for ");
    }
}
