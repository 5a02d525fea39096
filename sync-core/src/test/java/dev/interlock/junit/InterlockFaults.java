package dev.interlock.junit;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.ops.NameView.Holder;
import dev.interlock.ops.NameView.State;
import dev.interlock.ops.Operator;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/**
 * Brings about what a test can't wait for: a lost lock, an outage of Redis, a holder that stands still. All of it ends
 * with the test at the latest.
 *
 * <p>The faults are real ones: sessions are connected through a TCP proxy, which closes their connections or lets no
 * byte pass. So Redis' URL has to begin with {@code redis://}.
 */
public final class InterlockFaults implements AutoCloseable {
    /** The number of the session that a test is given. */
    static final int FIRST = 0;

    /** The most time that a fault waits for a lock or for an answer. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final RedisServer redis = RedisServer.provided();
    private final FaultProxy proxy = FaultProxy.to(redis);
    private final String namespace = "test-" + UUID.randomUUID();
    private final UnaryOperator<InterlockBuilder> settings;
    private final Map<Integer, Interlock> sessions = new HashMap<>();
    private final Deque<FrozenHolder> holders = new ArrayDeque<>();

    InterlockFaults(UnaryOperator<InterlockBuilder> settings) {
        this.settings = settings;
    }

    /** Returns the session of that number, which is opened when it is first asked for. */
    Interlock session(int number) {
        return sessions.computeIfAbsent(
                number, absent -> builder(proxy.url(), "session-" + number).open());
    }

    private InterlockBuilder builder(String url, String name) {
        return settings.apply(Interlock.builder()).uri(url).namespace(namespace).sessionName(name);
    }

    /**
     * Has the thread that holds a lock lose it, as if Redis had lost the data: its session's listeners are told, its
     * {@code unlock()} throws, and the next waiter enters. When this returns, the session knows it.
     *
     * @param name the name of a lock, fair lock or read-write lock
     * @throws IllegalStateException if no thread of any session holds it for itself alone
     */
    public void loseLock(String name) {
        long began = System.nanoTime();
        try (Interlock session = builder(redis.url(), "operator").open()) {
            Operator operator = session.operator();
            List<Holder> holders;
            do {
                holders = operator.inspect(name).stream()
                        .flatMap(seen -> seen.holders().stream())
                        .toList();
                for (Holder holder : holders) {
                    if (holder.token() > 0 && operator.forceRelease(name, holder.token())) {
                        return;
                    }
                }
                // On a busy machine a holder may answer too late.
            } while (holders.stream().anyMatch(holder -> holder.state() == State.SILENT)
                    && System.nanoTime() - began < PATIENCE.toNanos());
        }
        throw new IllegalStateException("No thread holds '" + name + "' for itself, so none can lose it");
    }

    /** Redis is gone for all sessions of the test: their connections are closed, and new ones are refused. */
    public void beginOutage() {
        proxy.refuse(true);
        proxy.cut();
    }

    /** Redis is there again. */
    public void endOutage() {
        proxy.heal();
    }

    /**
     * Has a session of its own take a lock, and then stand still with it, as a JVM does that is suspended: it doesn't
     * answer, and doesn't renew its lease.
     *
     * @param name the name of the lock
     * @param lease how long the others have to wait for it, at least 1 s
     * @return ends the stillness
     * @throws IllegalStateException if the lock is held by somebody else for 10 s
     */
    public FrozenHolder freezeHolder(String name, Duration lease) {
        FaultProxy line = FaultProxy.to(redis);
        Interlock session = builder(line.url(), "frozen").lease(lease).open();
        FrozenHolder holder = new FrozenHolder(line, session);
        holders.push(holder);
        DistributedReentrantLock lock = session.lock(name);
        try {
            if (!lock.tryLock(PATIENCE.toNanos(), TimeUnit.NANOSECONDS)) {
                throw new IllegalStateException("'" + name + "' is held by somebody else");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
        line.stall();
        return holder;
    }

    /** A session that has a lock, and stands still until it is thawed. */
    public static final class FrozenHolder implements AutoCloseable {
        private final FaultProxy line;
        private final Interlock session;

        FrozenHolder(FaultProxy line, Interlock session) {
            this.line = line;
            this.session = session;
        }

        /** Has the session go on: if the lock is still its own, it keeps that. */
        public void thaw() {
            line.heal();
        }

        /** Has the session go on, and give the lock up if it is still its own. */
        @Override
        public void close() {
            thaw();
            session.close();
            line.close();
        }
    }

    /** Ends all faults, and closes all sessions. Called after the test. */
    @Override
    public void close() {
        proxy.heal();
        holders.forEach(FrozenHolder::close);
        sessions.values().forEach(Interlock::close);
        proxy.close();
    }
}
