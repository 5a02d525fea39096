package dev.interlock.testing;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Several Redis servers that stand in for each other. What a test has done to one of them {@link #heal} mends. */
public abstract class Topology implements AutoCloseable {
    private static final Duration MAX_WAIT = Duration.ofSeconds(60);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Set<RedisServer> killed = ConcurrentHashMap.newKeySet();
    private final Set<RedisServer> paused = ConcurrentHashMap.newKeySet();

    /** All servers that hold data. */
    public abstract List<RedisServer> nodes();

    /** Where a client finds out about the rest. */
    public abstract List<String> urls();

    /** The master that the servers agreed upon when they were last asked; it may be gone by now. */
    public abstract RedisServer masterOf(String key);

    /** Whether all that runs knows of all that runs, and all replicas are up to date. */
    abstract boolean isReady();

    /** Tells a server that was gone where it belongs, unless it finds out itself. */
    abstract void readmit(RedisServer server);

    /** Kills a server as {@code kill -9} does. */
    public final void kill(RedisServer server) {
        killed.add(server);
        server.kill();
    }

    /** Stops a server as {@code kill -STOP} does. */
    public final void pause(RedisServer server) {
        paused.add(server);
        server.pause();
    }

    /** Starts what was killed and resumes what was paused, and returns when all are one again. */
    public final void heal() {
        for (RedisServer server : List.copyOf(paused)) {
            server.resume();
            paused.remove(server);
        }
        for (RedisServer server : List.copyOf(killed)) {
            server.restart();
            killed.remove(server);
            readmit(server);
        }
        awaitReady();
    }

    /** Returns when all that runs knows of all that runs. */
    public final void awaitReady() {
        await("ready", this::isReady);
    }

    final boolean isUp(RedisServer server) {
        return !killed.contains(server) && !paused.contains(server);
    }

    final List<RedisServer> running() {
        return nodes().stream().filter(this::isUp).toList();
    }

    final RedisServer at(int port) {
        return nodes().stream()
                .filter(node -> node.port() == port)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no server on port " + port));
    }

    static String info(RedisServer server, String field) {
        return Info.field(String.valueOf(server.command("INFO", "replication")), field);
    }

    final void await(String what, BooleanSupplier condition) {
        long deadlineNanos = System.nanoTime() + MAX_WAIT.toNanos();
        while (!holds(condition)) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException(this + " is not " + what + " within " + MAX_WAIT.toSeconds() + " s");
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private static boolean holds(BooleanSupplier condition) {
        try {
            return condition.getAsBoolean();
        } catch (RespError | UncheckedIOException e) {
            // Such as a master that doesn't know yet whom it is asked about.
            return false;
        }
    }

    @Override
    public void close() {
        nodes().forEach(RedisServer::close);
    }
}
