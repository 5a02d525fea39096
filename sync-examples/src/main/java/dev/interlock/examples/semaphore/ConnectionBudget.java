package dev.interlock.examples.semaphore;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * A fleet shares the few connections that its database allows. Each JVM has more threads that want one than there are
 * in all; none knows of the others. A permit of the semaphore stands for a connection: who has one can open one.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=semaphore.ConnectionBudget} has four JVMs run queries, kills one of them while it
 * holds two connections, and checks that the database never had to refuse one, that all other queries were answered,
 * and that all permits were there again at the end.
 */
public final class ConnectionBudget {

    private static final int CONNECTIONS = 6;
    private static final int JVMS = 4;
    private static final int THREADS = 8;
    private static final int QUERIES = 40;
    private static final int HELD = 2;
    private static final String NAME = "connections";
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration QUERY = Duration.ofMillis(2);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private ConnectionBudget() {}

    private static Interlock connect(String url) {
        return Interlock.builder().uri(url).lease(LEASE).open();
    }

    /** One of the JVMs. */
    static final class Node {

        private final Semaphore connections;
        private final int port;

        private Node(Semaphore connections, int port) {
            this.connections = connections;
            this.port = port;
        }

        public static void main(String[] args) throws InterruptedException, ExecutionException, IOException {
            try (Interlock interlock = connect(args[0])) {
                var node = new Node(interlock.semaphore(NAME, CONNECTIONS), Integer.parseInt(args[1]));
                ChildConsole.say("READY");
                switch (ChildConsole.readCommand()) {
                    case "work" -> node.work();
                    case "hold" -> node.hold();
                    default -> throw new IllegalArgumentException();
                }
            }
        }

        private void work() throws InterruptedException, ExecutionException {
            ExecutorService threads = Executors.newFixedThreadPool(THREADS);
            var running = IntStream.range(0, THREADS)
                    .mapToObj(i -> threads.submit(this::runQueries))
                    .toList();
            int answered = 0;
            for (Future<Integer> thread : running) {
                answered += thread.get();
            }
            threads.shutdown();
            ChildConsole.say("WORKED " + answered);
        }

        private int runQueries() throws IOException, InterruptedException {
            int answered = 0;
            for (int i = 0; i < QUERIES; i++) {
                connections.acquire();
                try (var connection = new Connection(port)) {
                    answered += connection.query() ? 1 : 0;
                    LockSupport.parkNanos(QUERY.toNanos());
                } finally {
                    connections.release();
                }
            }
            return answered;
        }

        /** Opens connections, and is killed with them. */
        private void hold() throws InterruptedException, IOException {
            for (int i = 0; i < HELD; i++) {
                connections.acquire();
                new Connection(port).query();
            }
            ChildConsole.say("HOLDS");
            ChildConsole.readCommand();
        }
    }

    /** A connection to the database. */
    private static final class Connection implements AutoCloseable {

        private final Socket socket;
        private final PrintWriter requests;
        private final BufferedReader answers;
        private final boolean isWelcome;

        Connection(int port) throws IOException {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            requests = new PrintWriter(socket.getOutputStream(), true, StandardCharsets.UTF_8);
            answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
            isWelcome = "welcome".equals(answers.readLine());
        }

        boolean query() throws IOException {
            return isWelcome && "42".equals(ask("query"));
        }

        private String ask(String request) throws IOException {
            requests.println(request);
            return String.valueOf(answers.readLine());
        }

        @Override
        public void close() throws IOException {
            try (socket) {
                ask("quit");
            }
        }
    }

    /** Runs the fleet; the exit code is 0 if nothing was refused and nothing was lost. */
    public static void main(String[] args) {
        int answered = 0;
        int expected = (JVMS - 1) * THREADS * QUERIES;
        boolean isOk;
        try (RedisServer redis = RedisServer.launch();
                var database = new Database(CONNECTIONS);
                Fleet jvms = Fleet.start(JVMS, Node.class, redis.url(), "" + database.port());
                Interlock interlock = connect(redis.url())) {
            Semaphore connections = interlock.semaphore(NAME, CONNECTIONS);
            jvms.awaitAll("READY", PATIENCE);
            jvms.get(0).send("hold");
            jvms.get(0).await("HOLDS", PATIENCE);
            for (int i = 1; i < JVMS; i++) {
                jvms.get(i).send("work");
            }
            jvms.get(0).kill();
            System.out.printf("killed the JVM that held %d of %d connections%n", HELD, CONNECTIONS);
            for (int i = 1; i < JVMS; i++) {
                String worked = jvms.get(i).await("WORKED ", PATIENCE);
                answered += Integer.parseInt(worked.substring("WORKED ".length()));
            }
            boolean isFree = awaitAll(connections);
            isOk = isFree && answered == expected && database.refused() == 0 && database.open() == 0;
            System.out.printf(
                    "BUDGET %s: %d of %d queries answered, %d connections refused,"
                            + " %d of %d at most; %s permits are back%n",
                    isOk ? "OK" : "FAILED",
                    answered,
                    expected,
                    database.refused(),
                    database.most(),
                    CONNECTIONS,
                    isFree ? "all" : "not all");
        }
        System.exit(isOk ? 0 : 1);
    }

    /** Returns whether exactly all permits are there by the end of the dead JVM's lease. */
    private static boolean awaitAll(Semaphore connections) {
        long beganNanos = System.nanoTime();
        while (connections.availablePermits() != CONNECTIONS) {
            if (System.nanoTime() - beganNanos > LEASE.multipliedBy(2).toNanos()) {
                return false;
            }
            LockSupport.parkNanos(POLL.toNanos());
        }
        return true;
    }
}
