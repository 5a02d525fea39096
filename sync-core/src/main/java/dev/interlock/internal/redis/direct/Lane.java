package dev.interlock.internal.redis.direct;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.redisson.RedissonShutdownException;
import org.redisson.client.RedisConnectionException;
import org.redisson.client.RedisException;

/**
 * Sends requests by one {@link Connection}, and replaces that once it has broken, has gone silent, or leads to a server
 * that isn't the master any more. What was in flight isn't repeated; what comes while there is no connection waits for
 * the next attempt to connect, and fails with it.
 */
final class Lane {
    /** From the beginning of an attempt to connect to that of the next one. */
    private static final long ATTEMPT_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /** How often to look whether the master is another server. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Connector connector;
    private final Timer timer;
    private final long silenceNanos;
    private final long patienceNanos;
    private final String name;
    private final ReentrantLock mutex = new ReentrantLock();
    private volatile @Nullable Connection current;

    /** A hint, so that updates may be lost. */
    private volatile long lookedNanos = System.nanoTime();

    /** Those that haven't ended, the current one among them. */
    @GuardedBy("mutex")
    private final Set<Connection> connections = new HashSet<>();

    /** Only while there is no current connection. */
    @GuardedBy("mutex")
    private List<Request> waiting = new ArrayList<>();

    /** Whether a thread connects, or is about to. Always so while requests wait. */
    @GuardedBy("mutex")
    private boolean connecting;

    @GuardedBy("mutex")
    private long attemptNanos = System.nanoTime() - ATTEMPT_NANOS;

    @GuardedBy("mutex")
    private boolean closed;

    /**
     * Creates a lane, which connects when it is first used.
     *
     * @param silenceNanos after how long without a reply that is due the connection is replaced
     * @param patienceNanos after how long without one all replies that are due are given up
     * @param name that of its threads
     */
    Lane(Connector connector, Timer timer, long silenceNanos, long patienceNanos, String name) {
        this.connector = connector;
        this.timer = timer;
        this.silenceNanos = silenceNanos;
        this.patienceNanos = patienceNanos;
        this.name = name;
    }

    /** Sends requests, one right after the other. */
    void send(List<? extends Request> requests) {
        Connection connection = current;
        while (connection == null ? !waits(requests) : isOfAnother(connection) || !connection.send(requests)) {
            if (connection != null) {
                replace(connection);
            }
            connection = current;
        }
    }

    private boolean isOfAnother(Connection connection) {
        long now = System.nanoTime();
        if (now - lookedNanos < LOOK_NANOS) {
            return false;
        }
        lookedNanos = now;
        return connector.hasMovedFrom(connection.wire());
    }

    /** Leaves the present connection: the next request uses another one. */
    void replace() {
        Connection connection = current;
        if (connection != null) {
            replace(connection);
        }
    }

    private void replace(Connection connection) {
        mutex.lock();
        try {
            if (current == connection) {
                current = null;
            }
        } finally {
            mutex.unlock();
        }
        connection.retire();
    }

    /**
     * Makes requests wait for a connection, unless there is one.
     *
     * @return false if there is one
     */
    private boolean waits(List<? extends Request> requests) {
        long delayNanos;
        mutex.lock();
        try {
            if (current != null) {
                return false;
            }
            waiting.addAll(requests);
            if (connecting) {
                return true;
            }
            connecting = true;
            delayNanos = closed ? 0 : attemptNanos + ATTEMPT_NANOS - System.nanoTime();
        } finally {
            mutex.unlock();
        }
        if (delayNanos <= 0) {
            connectAside();
        } else {
            timer.schedule(this::connectAside, TimeUnit.NANOSECONDS.toMillis(delayNanos) + 1);
        }
        return true;
    }

    private void connectAside() {
        try {
            Threads.start(name + "-connects", this::connect);
        } catch (Error e) {
            // There are too many threads. The next request tries again.
            lose(stopWaiting(null), new RedisConnectionException("No thread can be started to connect", e));
        }
    }

    private void connect() {
        try {
            begin();
            Connection connection =
                    new Connection(connector.connect(), timer, silenceNanos, patienceNanos, this::ended);
            begun(connection);
            connection.start(name);
            List<Request> requests = stopWaiting(connection);
            if (!connection.send(requests)) {
                lose(requests, new RedisConnectionException("A connection has ended at once"));
            }
        } catch (IOException | RuntimeException | Error e) {
            lose(
                    stopWaiting(null),
                    e instanceof RedissonShutdownException shutDown
                            ? shutDown
                            : new RedisConnectionException("Redis can't be reached", e));
        }
    }

    private void begin() {
        mutex.lock();
        try {
            if (closed) {
                throw closed();
            }
            attemptNanos = System.nanoTime();
        } finally {
            mutex.unlock();
        }
    }

    private void begun(Connection connection) {
        mutex.lock();
        try {
            connections.add(connection);
            if (closed) {
                connection.end(closed());
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Ends an attempt to connect. Returns the requests that have waited for it. */
    private List<Request> stopWaiting(@Nullable Connection connection) {
        mutex.lock();
        try {
            List<Request> stopped = waiting;
            waiting = new ArrayList<>();
            connecting = false;
            current = connection;
            return stopped;
        } finally {
            mutex.unlock();
        }
    }

    private static void lose(List<Request> requests, RedisException cause) {
        requests.forEach(request -> request.lost(cause));
    }

    private void ended(Connection connection) {
        mutex.lock();
        try {
            connections.remove(connection);
        } finally {
            mutex.unlock();
        }
    }

    /** Ends all connections; what is unanswered fails, and what comes from now on. */
    void close() {
        List<Connection> open;
        List<Request> lost;
        mutex.lock();
        try {
            closed = true;
            open = List.copyOf(connections);
            lost = waiting;
            waiting = new ArrayList<>();
            connecting = false;
        } finally {
            mutex.unlock();
        }
        open.forEach(connection -> connection.end(closed()));
        lose(lost, closed());
    }

    private static RedissonShutdownException closed() {
        return new RedissonShutdownException("The session is closed");
    }
}
