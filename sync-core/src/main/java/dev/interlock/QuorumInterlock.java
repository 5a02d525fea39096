package dev.interlock;

import static java.util.Objects.requireNonNull;

import com.google.common.collect.MapMaker;
import dev.interlock.internal.quorum.QuorumLock;
import dev.interlock.internal.quorum.QuorumSession;
import dev.interlock.internal.redis.Keys;
import java.time.Duration;
import java.util.concurrent.ConcurrentMap;

/**
 * A session with several independent Redis servers, of which a majority decides: its locks keep working while a
 * minority of servers is down or out of reach.
 *
 * <pre>{@code
 * try (QuorumInterlock quorum = Interlock.quorum(List.of(client1, client2, client3))) {
 *     ReentrantLock lock = quorum.lock("account:42");
 *     lock.lock();
 *     try {
 *         // one thread of one JVM at a time
 *     } finally {
 *         lock.unlock();
 *     }
 * }
 * }</pre>
 *
 * <p><b>How it works.</b> As in <a
 * href="https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock</a> (Salvatore Sanfilippo), a
 * lock asks all nodes at the same time, and owns the name if a majority votes for it. The ownership is valid for the
 * lease, less the duration of the round and a margin for clocks that run at different speeds. A round without a
 * majority gives back its votes, and another one follows after a random delay. Renewals go to all nodes, and the lease
 * holds while a majority confirms them.
 *
 * <p><b>What it can't give.</b> Martin Kleppmann's <a
 * href="https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">criticism</a> holds for every
 * lease: a JVM may be paused inside its critical section, and the clock of a node may jump, which ends leases there
 * early. So two threads may believe that they hold the lock. Protect the resource by
 * {@linkplain DistributedReentrantLock#fencingToken fencing tokens}, which Redlock lacks and this lock has: they
 * increase across majorities, since a thread enters only after a majority of nodes knows its token. A store that
 * refuses a token smaller than one it has seen is safe from the older of two holders.
 *
 * <p><b>What the nodes must do.</b> They are independent servers, not replicas of each other. Each keeps its data
 * across a restart ({@code appendfsync always}), or stays away after one for as long as the longest lease: a node that
 * forgets its vote may vote twice.
 *
 * <p>Sessions are safe for use by any number of threads. A quorum lock is independent of the lock of the same name on
 * one of its nodes.
 */
public final class QuorumInterlock implements AutoCloseable {
    private final QuorumSession session;

    // One object per name, since the threads of this JVM must share its local half. The session itself references
    // what its threads hold, own or wait for.
    private final ConcurrentMap<String, DistributedReentrantLock> locks =
            new MapMaker().weakValues().makeMap();

    QuorumInterlock(QuorumSession session) {
        this.session = session;
    }

    /**
     * Returns the lock of this name. Returns the same object for as long as it is referenced or held. JVMs don't queue
     * for it: a release notifies the JVM that has waited longest first, but any JVM may win. It has no conditions:
     * {@code newCondition()} throws {@link UnsupportedOperationException}.
     *
     * @param name 1 to 1,024 bytes in UTF-8
     * @return the lock
     * @throws IllegalArgumentException if the name is empty or too long
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock lock(String name) {
        Keys.checkName("name", name);
        session.ensureOpen();
        return locks.computeIfAbsent(
                name,
                absent -> new DistributedReentrantLock(
                        LockOptions.PLAIN, local -> new QuorumLock(session, absent, local)));
    }

    /** Returns the id of this session, as it appears in the owner field of the locks that it owns. */
    public String id() {
        return session.id();
    }

    /** Returns how many locks threads of this session hold now, as {@link Interlock#heldLocks} does. */
    public int heldLocks() {
        return session.heldLocks();
    }

    /**
     * Adds a listener, as {@link Interlock#addListener} does.
     *
     * @param listener the listener
     */
    public void addListener(SyncListener listener) {
        session.outage().addListener(requireNonNull(listener, "listener"));
    }

    /**
     * Removes a listener, as {@link Interlock#removeListener} does.
     *
     * @param listener the listener
     */
    public void removeListener(SyncListener listener) {
        session.settings().listeners().remove(requireNonNull(listener, "listener"));
    }

    /**
     * Releases everything this session owns, on all nodes. Threads that wait for a lock of this session get an
     * {@link IllegalStateException}, as does any later use. A thread that holds a lock has lost it, and its
     * {@code unlock()} throws {@link LeaseLostException}. Waits for the nodes about one command time-out. The clients
     * stay open. A second call does nothing.
     */
    @Override
    public void close() {
        close(Duration.ZERO);
    }

    /**
     * Closes this session when its threads have given back what they hold, as {@link Interlock#close(Duration)} does.
     *
     * @param await for how long to wait, 0 to 365 days. An interrupt ends the wait, and stays set
     * @throws IllegalArgumentException if {@code await} is out of its range
     */
    public void close(Duration await) {
        session.close(InterlockBuilder.checked("await", await, Duration.ZERO).toNanos());
    }
}
