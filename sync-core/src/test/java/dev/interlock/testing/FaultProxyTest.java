package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FaultProxyTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration A_MOMENT = Duration.ofMillis(200);

    private static RedisServer server;
    private FaultProxy proxy;

    @BeforeAll
    static void launchServer() {
        server = RedisServer.launch();
    }

    @AfterAll
    static void closeServer() {
        server.close();
    }

    @BeforeEach
    void startProxy() {
        server.command("FLUSHALL");
        proxy = FaultProxy.to(server);
    }

    @AfterEach
    void closeProxy() {
        proxy.close();
    }

    @Test
    void everythingPasses() throws IOException {
        try (var client = connect()) {
            assertThat(client.call("SET", "k", "v".repeat(100_000))).isEqualTo("OK");
            assertThat(client.call("GET", "k")).isEqualTo("v".repeat(100_000));
            assertThat(client.call("EVAL", "return {1, {'a', false}}", "0"))
                    .asString()
                    .isEqualTo("[1, [a, null]]");
            assertThat(proxy.connections()).isEqualTo(1);
        }
        await().atMost(PATIENCE).until(() -> proxy.connections() == 0);
    }

    @Test
    void stalledBytesArriveLater() throws IOException {
        try (var client = connect()) {
            client.call("PING");
            proxy.stall();
            var answer = Background.run(() -> call(client, "INCR", "k"));
            await().during(A_MOMENT)
                    .atMost(PATIENCE)
                    .until(() -> !answer.isDone() && server.keys().isEmpty());
            proxy.resume();
            assertThat(answer).succeedsWithin(PATIENCE).isEqualTo(1L);
        }
    }

    @Test
    void cutClosesConnectionsAndLetsNewOnesIn() throws IOException {
        try (var client = connect()) {
            client.call("PING");
            proxy.cut();
            assertThatThrownBy(() -> client.call("PING")).isInstanceOf(IOException.class);
            assertThat(proxy.connections()).isZero();
        }
        try (var client = connect()) {
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void refusingConcernsNewConnectionsOnly() throws IOException {
        try (var old = connect()) {
            old.call("PING");
            proxy.refuse(true);
            assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
            assertThat(old.call("PING")).isEqualTo("PONG");
            proxy.refuse(false);
            try (var fresh = connect()) {
                assertThat(fresh.call("PING")).isEqualTo("PONG");
            }
        }
    }

    @Test
    void lostReplyCutsAfterTheCommandWasExecuted() throws IOException {
        proxy.dropReplies(FaultProxyTest::isIncrement, 1, Loss.CUT);
        try (var client = connect()) {
            assertThat(client.call("ECHO", "before")).isEqualTo("before");
            assertThatThrownBy(() -> client.call("INCR", "k")).isInstanceOf(IOException.class);
        }
        assertThat(server.command("GET", "k")).isEqualTo("1");
        assertThat(proxy.dropped()).isEqualTo(1);
        try (var client = connect()) {
            assertThat(client.call("INCR", "k")).isEqualTo(2L);
        }
    }

    @Test
    void muteConnectionStillExecutesUntilItIsCut() throws IOException {
        proxy.dropReplies(FaultProxyTest::isIncrement, 1, Loss.muteFor(Duration.ofSeconds(1)));
        try (var client = connect()) {
            client.write("ECHO", "before");
            client.write("INCR", "k");
            client.write("SET", "after", "v");
            assertThat(client.read()).isEqualTo("before");
            await().atMost(PATIENCE).until(() -> server.keys().equals(Set.of("k", "after")));
            assertThat(proxy.dropped()).isEqualTo(1);
            assertThatThrownBy(client::read)
                    .isInstanceOf(IOException.class)
                    .isNotInstanceOf(SocketTimeoutException.class);
            await().atMost(PATIENCE).until(() -> proxy.connections() == 0);
        }
    }

    @Test
    void healCutsMuteConnections() throws IOException {
        proxy.dropReplies(FaultProxyTest::isIncrement, FaultProxy.ALWAYS);
        try (var client = connect()) {
            var answer = Background.run(() -> call(client, "INCR", "k"));
            await().atMost(PATIENCE).until(() -> proxy.dropped() == 1);
            assertThat(answer).isNotDone();
            proxy.heal();
            assertThat(answer).failsWithin(PATIENCE);
        }
        try (var client = connect()) {
            assertThat(client.call("INCR", "k")).isEqualTo(2L);
        }
    }

    @Test
    void predicateForAMissingWordMatchesNothing() throws IOException {
        proxy.dropReplies(request -> request.get(7).equals("x"), FaultProxy.ALWAYS, Loss.CUT);
        try (var client = connect()) {
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void lateReplyHoldsBackThoseBehindIt() throws IOException {
        proxy.delayReplies(FaultProxyTest::isIncrement, A_MOMENT, 1);
        try (var client = connect()) {
            long beginNanos = System.nanoTime();
            client.write("INCR", "k");
            client.write("ECHO", "behind");
            assertThat(client.read()).isEqualTo(1L);
            assertThat(Duration.ofNanos(System.nanoTime() - beginNanos)).isGreaterThanOrEqualTo(A_MOMENT);
            assertThat(client.read()).isEqualTo("behind");
        }
    }

    @Test
    void lostRequestIsNeverExecuted() throws IOException {
        proxy.dropRequests(FaultProxyTest::isIncrement, 1, Loss.muteFor(A_MOMENT));
        try (var client = connect()) {
            assertThatThrownBy(() -> client.call("INCR", "k")).isInstanceOf(IOException.class);
        }
        assertThat(proxy.droppedRequests()).isEqualTo(1);
        assertThat(server.keys()).isEmpty();
    }

    @Test
    void lateRequestArrivesThoughItsClientHasGone() throws IOException {
        proxy.delayRequests(FaultProxyTest::isIncrement, Duration.ofMillis(500), 1);
        try (var client = connect()) {
            client.write("INCR", "k");
            client.write("SET", "behind", "v");
        }
        try (var client = connect()) {
            assertThat(client.call("INCRBY", "k", "10")).isEqualTo(10L);
            assertThat(server.keys()).containsExactly("k");
        }
        assertThat(proxy.holdsRequests()).isTrue();
        await().atMost(PATIENCE).until(() -> "11".equals(server.command("GET", "k")));
        await().atMost(PATIENCE).until(() -> server.keys().contains("behind"));
        await().atMost(PATIENCE).until(() -> !proxy.holdsRequests());
    }

    @Test
    void duplicateFollowsTheOriginal() throws IOException {
        proxy.duplicateRequests(FaultProxyTest::isIncrement, Duration.ofMillis(50), 1);
        try (var client = connect()) {
            assertThat(client.call("INCR", "k")).isEqualTo(1L);
            await().atMost(PATIENCE).until(() -> proxy.duplicated() == 1);
            assertThat(client.call("GET", "k")).isEqualTo("2");
        }
    }

    @Test
    void messagesGetLostWithoutHarmToReplies() throws IOException {
        proxy.dropMessages(message -> message.get(2).equals("lost"), 1);
        proxy.delayMessages(message -> message.get(2).equals("late"), A_MOMENT, 1);
        try (var client = connect()) {
            client.write("SUBSCRIBE", "a", "b");
            assertThat(client.read()).isEqualTo(List.of("subscribe", "a", 1L));
            assertThat(client.read()).isEqualTo(List.of("subscribe", "b", 2L));
            server.command("PUBLISH", "a", "lost");
            server.command("PUBLISH", "b", "late");
            server.command("PUBLISH", "a", "kept");
            assertThat(client.read()).isEqualTo(List.of("message", "b", "late"));
            assertThat(client.read()).isEqualTo(List.of("message", "a", "kept"));
            client.write("UNSUBSCRIBE");
            assertThat(unsubscribed(client)).containsExactlyInAnyOrder("a", "b");
            client.call("RPUSH", "list", "message", "a", "lost");
            assertThat(client.call("LRANGE", "list", "0", "2")).isEqualTo(List.of("message", "a", "lost"));
        }
        assertThat(proxy.droppedMessages()).isEqualTo(1);
    }

    /** Every answer belongs to its own request, whatever happens to the connections. */
    @Test
    void faultsMayChangeUnderTraffic() {
        var over = new AtomicBoolean();
        var traffic = IntStream.range(0, 4)
                .mapToObj(i -> Background.run(() -> count("k" + i, over)))
                .toList();
        for (int round = 0; round < 30; round++) {
            long executed = server.commandCalls("incr");
            proxy.dropReplies(FaultProxyTest::isIncrement, 1, Loss.CUT);
            proxy.dropReplies(FaultProxyTest::isIncrement, 1);
            proxy.delayReplies(FaultProxyTest::isIncrement, Duration.ofMillis(2), 10);
            proxy.delay(Duration.ofMillis(1));
            await().pollInterval(Duration.ofMillis(5))
                    .atMost(PATIENCE)
                    .until(() -> server.commandCalls("incr") > executed + 20);
            proxy.stall();
            proxy.resume();
            proxy.heal();
            if (round % 5 == 0) {
                proxy.cut();
            }
        }
        over.set(true);
        assertThat(traffic).allSatisfy(counted -> assertThat(counted).succeedsWithin(PATIENCE));
    }

    private long count(String key, AtomicBoolean over) {
        long highest = 0;
        while (!over.get()) {
            try (var client = connect()) {
                while (!over.get()) {
                    String word = key + highest;
                    assertThat(client.call("ECHO", word)).isEqualTo(word);
                    long value = (Long) Objects.requireNonNull(client.call("INCR", key));
                    assertThat(value).isGreaterThan(highest);
                    highest = value;
                }
            } catch (IOException e) {
                assertThat(e).isNotInstanceOf(SocketTimeoutException.class); // cut: try again
            }
        }
        return highest;
    }

    private static boolean isIncrement(List<String> request) {
        return request.get(0).equals("INCR");
    }

    private static List<Object> unsubscribed(RespConnection client) throws IOException {
        var channels = new ArrayList<Object>();
        for (int i = 0; i < 2; i++) {
            if (client.read() instanceof List<?> reply && "unsubscribe".equals(reply.get(0))) {
                channels.add(String.valueOf(reply.get(1)));
            }
        }
        return channels;
    }

    private RespConnection connect() throws IOException {
        return RespConnection.open(URI.create(proxy.url()), PATIENCE);
    }

    private static @Nullable Object call(RespConnection client, String... words) {
        try {
            return client.call(words);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
