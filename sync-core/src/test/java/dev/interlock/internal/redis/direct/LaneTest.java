package dev.interlock.internal.redis.direct;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;
import org.redisson.client.RedisTimeoutException;

/** Each request is answered or fails, whatever the server does. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LaneTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** Serves one connection. */
    @FunctionalInterface
    private interface Service {
        void serve(ReplyReader in, OutputStream out, Socket socket) throws Exception;
    }

    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
    private final Queue<Service> services = new ConcurrentLinkedQueue<>();
    private final Queue<Socket> accepted = new ConcurrentLinkedQueue<>();
    private final List<String> received = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger attempts = new AtomicInteger();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Semaphore answers = new Semaphore(0);
    private final ServerSocket server;
    private volatile boolean refuses;
    private volatile boolean isMoved;
    private final List<Lane> lanes = new ArrayList<>();
    private final Connector connector;
    private final Lane lane;

    LaneTest() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        // What is not read soon fills the buffers.
        server.setReceiveBufferSize(4_096);
        start(this::accept);
        connector = new Connector() {
            @Override
            public Wire connect() throws IOException {
                attempts.incrementAndGet();
                if (refuses) {
                    throw new IOException("refused");
                }
                Socket socket = new Socket();
                socket.setSendBufferSize(Endpoint.SEND_BUFFER);
                socket.connect(server.getLocalSocketAddress());
                return new Wire(socket, socket, (InetSocketAddress) socket.getRemoteSocketAddress());
            }

            @Override
            public boolean hasMovedFrom(Wire wire) {
                return isMoved;
            }
        };
        lane = lane(Duration.ofMinutes(1), Duration.ofMinutes(2));
    }

    /** Creates a lane that takes a server for silent after a while, and gives its replies up after another one. */
    private Lane lane(Duration silence, Duration patience) {
        Lane created = new Lane(
                connector,
                (task, millis) -> timer.schedule(task, millis, TimeUnit.MILLISECONDS),
                silence.toNanos(),
                patience.toNanos(),
                "lane-test");
        lanes.add(created);
        return created;
    }

    private Lane hastyLane() {
        return lane(Duration.ofMillis(100), Duration.ofSeconds(2));
    }

    @AfterEach
    void end() throws IOException {
        ended.countDown();
        lanes.forEach(Lane::close);
        server.close();
        for (Socket socket : accepted) {
            socket.close();
        }
        timer.shutdownNow();
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task, "lane-test-server");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket socket = server.accept();
                accepted.add(socket);
                Service next = services.poll();
                Service service = next == null ? this::echo : next;
                start(() -> {
                    try (socket) {
                        service.serve(new ReplyReader(socket.getInputStream()), socket.getOutputStream(), socket);
                    } catch (Exception e) {
                        // The client has closed the connection, or the test has ended.
                    }
                });
            }
        } catch (IOException e) {
            // The test has ended.
        }
    }

    private String receive(ReplyReader in) throws IOException {
        String text = String.valueOf(((List<?>) requireNonNull(in.read())).get(0));
        received.add(text.substring(0, Math.min(text.length(), 20)));
        return text;
    }

    private void echo(ReplyReader in, OutputStream out, Socket socket) throws IOException {
        while (true) {
            out.write(("+" + receive(in) + "\r\n").getBytes(UTF_8));
        }
    }

    private void beSilent(ReplyReader in, OutputStream out, Socket socket) throws Exception {
        receive(in);
        ended.await();
    }

    private void answerWhenAllowed(ReplyReader in, OutputStream out, Socket socket) throws Exception {
        while (true) {
            String text = receive(in);
            answers.acquire();
            out.write(("+" + text + "\r\n").getBytes(UTF_8));
        }
    }

    private void stopInTheMiddle(ReplyReader in, OutputStream out, Socket socket) throws Exception {
        receive(in);
        out.write("$100\r\nbeg".getBytes(UTF_8));
        ended.await();
    }

    private void reset(ReplyReader in, OutputStream out, Socket socket) throws Exception {
        receive(in);
        socket.setSoLinger(true, 0);
    }

    private void talkNonsense(ReplyReader in, OutputStream out, Socket socket) throws Exception {
        receive(in);
        out.write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(UTF_8));
        ended.await();
    }

    private void answerTwice(ReplyReader in, OutputStream out, Socket socket) throws Exception {
        out.write(("+" + receive(in) + "\r\n+more\r\n").getBytes(UTF_8));
        ended.await();
    }

    private static final class Text extends Request {
        private final String text;

        Text(String text) {
            this.text = text;
        }

        @Override
        void writeTo(CommandBuffer out) {
            out.command(1);
            out.part(text);
        }

        @Override
        void take(@Nullable Object reply) {
            if (reply instanceof RedisException error) {
                lost(error);
            } else {
                complete(List.of(String.valueOf(reply)));
            }
        }

        @Override
        void lost(Throwable cause) {
            completeExceptionally(cause);
        }
    }

    private Text send(String text) {
        return send(text, lane);
    }

    private static Text send(String text, Lane by) {
        Text request = new Text(text);
        by.send(List.of(request));
        return request;
    }

    private static void assertAnswered(Text request) {
        assertThat(request).succeedsWithin(PATIENCE).isEqualTo(List.of(request.text));
    }

    private static void assertLost(Text request, Class<? extends Exception> by) {
        assertThat(request).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(by);
    }

    @Test
    void eachOfManyThreadsGetsItsOwnReplies() {
        List<CompletableFuture<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String prefix = i + "-";
            threads.add(CompletableFuture.runAsync(() -> {
                List<Text> sent = new ArrayList<>();
                for (int each = 0; each < 500; each++) {
                    sent.add(send(prefix + each));
                    if (each % 50 == 0) {
                        assertAnswered(sent.get(each));
                    }
                }
                sent.forEach(LaneTest::assertAnswered);
            }));
        }
        threads.forEach(thread -> assertThat(thread).succeedsWithin(PATIENCE));
        assertThat(accepted).hasSize(1);
    }

    /** The repeat of a command that got no answer doesn't wait behind it. */
    @Test
    void aSilentServerIsLeftToItself() {
        services.add(this::beSilent);
        Lane hasty = hastyLane();
        Text first = send("first", hasty);
        await().atMost(PATIENCE).until(() -> received.contains("first"));
        await().atMost(PATIENCE).until(() -> send("next", hasty).isDone());
        assertLost(first, RedisTimeoutException.class);
    }

    /**
     * Commands that wait behind many others are neither given up nor repeated elsewhere while their server answers: it
     * would have to work through both.
     */
    @Test
    void aServerThatCatchesUpKeepsItsConnection() {
        services.add(this::answerWhenAllowed);
        Queue<Runnable> looks = new ConcurrentLinkedQueue<>();
        long silence = TimeUnit.SECONDS.toNanos(3);
        Lane busy = new Lane(connector, (task, millis) -> looks.add(task), silence, silence, "lane-test");
        lanes.add(busy);
        Text first = send("first", busy);
        Text second = send("second", busy);
        long sentNanos = System.nanoTime();
        await().atMost(PATIENCE).until(() -> System.nanoTime() - sentNanos > silence);
        answers.release();
        assertAnswered(first);
        looks.remove().run();
        Text last = send("last", busy);
        answers.release(2);
        assertAnswered(second);
        assertAnswered(last);
        assertThat(attempts).hasValue(1);
    }

    @Test
    void aReplyThatStopsInItsMiddleIsGivenUp() {
        services.add(this::stopInTheMiddle);
        Lane hasty = hastyLane();
        assertLost(send("first", hasty), RedisTimeoutException.class);
        assertAnswered(send("second", hasty));
    }

    /** A command in flight may have been executed: only its caller knows whether to repeat it. */
    @Test
    void aLostConnectionRepeatsNothing() {
        services.add(this::reset);
        assertLost(send("first"), RedisConnectionException.class);
        assertAnswered(send("second"));
        assertThat(received).containsExactly("first", "second");
    }

    @Test
    void bytesThatAreNoReplyEndTheConnection() {
        services.add(this::talkNonsense);
        services.add(this::answerTwice);
        assertLost(send("first"), RedisConnectionException.class);
        assertAnswered(send("second"));
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertAnswered(send("third"));
            assertThat(accepted).hasSize(3);
        });
    }

    /** A caller never waits for a server that reads nothing. */
    @Test
    void aFullSendBufferBlocksNobody() {
        CountDownLatch reads = new CountDownLatch(1);
        services.add((in, out, socket) -> {
            reads.await();
            echo(in, out, socket);
        });
        List<Text> sent = new ArrayList<>();
        String large = "x".repeat(10_000);
        for (int i = 0; i < 500; i++) {
            sent.add(send(i + large));
        }
        assertThat(sent).noneMatch(CompletableFuture::isDone);
        reads.countDown();
        sent.forEach(LaneTest::assertAnswered);
    }

    /** Requests that come while there is no server fail by the next attempt to connect, of which there are few. */
    @Test
    void attemptsToConnectKeepTheirDistance() {
        refuses = true;
        long begun = System.nanoTime();
        for (int i = 0; i < 5; i++) {
            assertLost(send("lost"), RedisConnectionException.class);
        }
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isGreaterThan(Duration.ofSeconds(1));
        assertThat(attempts).hasValue(5);
        refuses = false;
        assertAnswered(send("found"));
        assertThat(received).containsExactly("found");
    }

    @Test
    void anotherMasterGetsWhatComesNext() {
        assertAnswered(send("first"));
        isMoved = true;
        await().atMost(PATIENCE).until(() -> {
            assertAnswered(send("next"));
            return attempts.get() >= 2;
        });
        isMoved = false;
        assertAnswered(send("last"));
    }

    /** A connection that nobody uses is kept open, and known to be broken before it is used. */
    @Test
    void anIdleConnectionIsAskedForASignOfLife() {
        Queue<Runnable> looks = new ConcurrentLinkedQueue<>();
        Lane idle = new Lane(
                connector,
                (task, millis) -> looks.add(task),
                TimeUnit.MINUTES.toNanos(1),
                TimeUnit.MINUTES.toNanos(1),
                "lane-test");
        lanes.add(idle);
        assertAnswered(send("first", idle));
        looks.remove().run();
        assertAnswered(send("second", idle));
        looks.remove().run();
        looks.remove().run();
        await().atMost(PATIENCE).until(() -> received.size() == 3);
        assertThat(received).containsExactly("first", "second", "PING");
    }

    @Test
    void aClosedLaneFailsWhatItGets() {
        services.add(this::beSilent);
        Text before = send("before");
        await().atMost(PATIENCE).until(() -> received.contains("before"));
        lane.close();
        assertLost(before, RedissonShutdownException.class);
        assertLost(send("after"), RedissonShutdownException.class);
        assertThat(attempts).hasValue(1);
    }

    /** A write that an interrupt meets breaks nothing. */
    @Test
    void anInterruptedThreadSendsAsOthersDo() {
        Thread.currentThread().interrupt();
        Text request = send("interrupted");
        assertThat(Thread.interrupted()).isTrue();
        assertAnswered(request);
    }
}
