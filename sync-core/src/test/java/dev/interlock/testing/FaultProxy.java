package dev.interlock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A TCP proxy before a Redis that loses, delays and repeats what passes, on demand.
 *
 * <pre>{@code
 * try (FaultProxy proxy = FaultProxy.to(server)) {
 *     RedissonClient client = connect(proxy.url());
 *     proxy.dropReplies(request -> request.contains("orders"), 1, Loss.CUT);
 *     client.getAtomicLong("orders").incrementAndGet(); // is executed, but the client isn't told
 * }
 * }</pre>
 *
 * <p>Faults can be switched on and off at any time and act on all connections, present and future. Those that choose
 * requests see their words as the client sends them: {@code [EVALSHA, <sha>, <numkeys>, key…, argument…]}; those that
 * choose messages see {@code [message, <channel>, <text>]}. A predicate that asks for a word which is not there does
 * not match. What is sent with {@code times} happens to the next so many matches only ({@link #ALWAYS}: to all).
 *
 * <p>After a time-out Redisson leaves the connection open and may send its next attempts on the same,
 * {@linkplain Loss#MUTE mute} one: each is executed and none is answered, until the connection is cut. {@link Loss#CUT}
 * makes it exactly two executions.
 */
public final class FaultProxy implements AutoCloseable {

    /** As often as it happens. */
    public static final int ALWAYS = Integer.MAX_VALUE;

    private static final Duration SERVER_TIMEOUT = Duration.ofSeconds(5);

    private final URI server;
    private final int port;
    private final Faults faults = new Faults();
    private final Set<ProxiedConnection> connections = ConcurrentHashMap.newKeySet();
    private final ScheduledThreadPoolExecutor timer;
    private final ProxiedConnection.Owner owner = new Owner();

    private @Nullable Acceptor acceptor; // guarded by this

    private FaultProxy(URI server) {
        if (!server.getScheme().equals("redis")) {
            throw new IllegalArgumentException("Only plain connections can be looked into: " + server.getScheme());
        }
        this.server = server;
        this.port = Loopback.freePort();
        this.timer =
                new ScheduledThreadPoolExecutor(1, FaultProxy::timerThread, new ThreadPoolExecutor.DiscardPolicy());
        refuse(false);
    }

    private static Thread timerThread(Runnable task) {
        var thread = new Thread(task, "proxy-timer");
        thread.setDaemon(true);
        return thread;
    }

    /** Starts a proxy before a server. */
    public static FaultProxy to(RedisServer server) {
        return new FaultProxy(URI.create(server.url()));
    }

    /** Where a client connects to. */
    public String url() {
        String userInfo = server.getRawUserInfo();
        String path = server.getRawPath();
        return "redis://" + (userInfo == null ? "" : userInfo + "@") + Loopback.HOST + ":" + port
                + (path == null ? "" : path);
    }

    /**
     * Delays everything, in each direction; zero ends that. Bandwidth stays: what follows closely is not delayed twice.
     */
    public void delay(Duration each) {
        faults.delay(each);
    }

    /** From now on no byte moves, in no direction; connections stay, and new ones can be opened. */
    public void stall() {
        faults.stall(true);
    }

    /** Ends a stall; everything sent in between arrives. */
    public void resume() {
        faults.stall(false);
    }

    /** Closes all current connections; what is under way is lost. */
    public void cut() {
        connections.forEach(ProxiedConnection::cut);
    }

    /** Refuses new connections, or accepts them again. Current ones stay. */
    public synchronized void refuse(boolean refusing) {
        try {
            if (refusing && acceptor != null) {
                acceptor.close();
                acceptor = null;
            } else if (!refusing && acceptor == null) {
                acceptor = new Acceptor(Loopback.listen(port));
                acceptor.start();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Loses the answers to matching requests, which are executed; {@link Loss#MUTE}s the connection. */
    public void dropReplies(Predicate<List<String>> request, int times) {
        dropReplies(request, times, Loss.MUTE);
    }

    /**
     * Loses the answers to matching requests, which are executed. Later requests on the connection are executed as
     * well, but their answers are lost, too.
     */
    public void dropReplies(Predicate<List<String>> request, int times, Loss loss) {
        faults.add(Faults.Kind.DROP_REPLY, request, Duration.ZERO, loss, times);
    }

    /** Holds back the answers to matching requests; later answers on the connection wait behind them. */
    public void delayReplies(Predicate<List<String>> request, Duration delay, int times) {
        faults.add(Faults.Kind.DELAY_REPLY, request, delay, Loss.CUT, times);
    }

    /** Loses matching requests, and everything that their connection sends afterwards. */
    public void dropRequests(Predicate<List<String>> request, int times, Loss loss) {
        faults.add(Faults.Kind.DROP_REQUEST, request, Duration.ZERO, loss, times);
    }

    /** Holds back all matching requests; later requests on the connection wait behind them. */
    public void delayRequests(Predicate<List<String>> request, Duration delay) {
        delayRequests(request, delay, ALWAYS);
    }

    /**
     * Holds back matching requests; later requests on the connection wait behind them. They arrive even if the client
     * closes the connection meanwhile: with a client that repeats what was not answered, the first attempt becomes a
     * late duplicate.
     */
    public void delayRequests(Predicate<List<String>> request, Duration delay, int times) {
        faults.add(Faults.Kind.DELAY_REQUEST, request, delay, Loss.CUT, times);
    }

    /** Lets matching requests pass, and executes each once more later, on a connection of its own. */
    public void duplicateRequests(Predicate<List<String>> request, Duration later, int times) {
        faults.add(Faults.Kind.DUPLICATE_REQUEST, request, later, Loss.CUT, times);
    }

    /** Loses matching pub/sub messages; the connection is not affected otherwise. */
    public void dropMessages(Predicate<List<String>> message, int times) {
        faults.add(Faults.Kind.DROP_MESSAGE, message, Duration.ZERO, Loss.CUT, times);
    }

    /** Holds back matching pub/sub messages; what follows on the connection waits behind them. */
    public void delayMessages(Predicate<List<String>> message, Duration delay, int times) {
        faults.add(Faults.Kind.DELAY_MESSAGE, message, delay, Loss.CUT, times);
    }

    /** Ends all faults. Connections that have lost something are cut. */
    public void heal() {
        faults.clear();
        refuse(false);
        connections.stream().filter(ProxiedConnection::isLossy).forEach(ProxiedConnection::cut);
    }

    /** How many answers to matching requests came and were lost so far: as many requests have been executed. */
    public long dropped() {
        return faults.counted(Faults.Kind.DROP_REPLY);
    }

    /** How many matching requests have been lost so far. */
    public long droppedRequests() {
        return faults.counted(Faults.Kind.DROP_REQUEST);
    }

    /** How many matching messages have been lost so far. */
    public long droppedMessages() {
        return faults.counted(Faults.Kind.DROP_MESSAGE);
    }

    /** How many requests have been executed once more so far. */
    public long duplicated() {
        return faults.counted(Faults.Kind.DUPLICATE_REQUEST);
    }

    /** Whether the server has yet to get requests that are held back, also those of clients that are gone. */
    public boolean holdsRequests() {
        return connections.stream().anyMatch(ProxiedConnection::holdsRequests);
    }

    /** How many connections are open. */
    public int connections() {
        return connections.size();
    }

    /** Closes the proxy and all its connections. */
    @Override
    public void close() {
        refuse(true);
        cut();
        timer.shutdownNow();
    }

    private void connect(Socket client) throws IOException {
        var upstream = new Socket();
        try {
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            upstream.connect(
                    new InetSocketAddress(server.getHost(), RespConnection.port(server)),
                    Math.toIntExact(SERVER_TIMEOUT.toMillis()));
        } catch (IOException e) {
            client.close();
            upstream.close();
            throw e;
        }
        var connection = new ProxiedConnection(client, upstream, faults, owner);
        connections.add(connection);
        connection.start();
    }

    private final class Acceptor extends Thread {

        private final ServerSocket listener;

        Acceptor(ServerSocket listener) {
            super("proxy-acceptor-" + port);
            this.listener = listener;
            setDaemon(true);
        }

        @Override
        public void run() {
            while (!listener.isClosed()) {
                try {
                    connect(listener.accept());
                } catch (IOException e) {
                    // The listener was closed, the server is not there, or the client was gone at once.
                }
            }
        }

        /**
         * Returns when nobody can connect any more: as long as accept() is under way, the closed socket still listens.
         */
        void close() throws IOException {
            listener.close();
            try {
                join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private final class Owner implements ProxiedConnection.Owner {

        @Override
        public void closed(ProxiedConnection connection) {
            connections.remove(connection);
        }

        @Override
        public void later(Duration delay, Runnable task) {
            var unused = timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
        }

        @Override
        public void sendAgain(byte[] request, Duration delay) {
            later(delay, () -> repeat(request));
        }

        private void repeat(byte[] request) {
            try (var connection = RespConnection.open(server, SERVER_TIMEOUT)) {
                connection.write(request);
                connection.read();
                faults.count(Faults.Kind.DUPLICATE_REQUEST);
            } catch (RespError e) {
                faults.count(Faults.Kind.DUPLICATE_REQUEST); // arrived, and was refused
            } catch (IOException e) {
                // A duplicate that never arrives, as happens to duplicates.
            }
        }
    }
}
