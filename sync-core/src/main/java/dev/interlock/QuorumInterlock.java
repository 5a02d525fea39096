package dev.interlock;

import com.google.common.collect.MapMaker;
import dev.interlock.internal.lock.quorum.QuorumLock;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.QuorumSession;
import java.util.concurrent.ConcurrentMap;

/**
 * A session with several independent Redis servers, of which a majority decides: locks that go on working while a
 * minority is down or out of reach.
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
 * href="https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Redlock</a> (Salvatore Sanfilippo),
 * all nodes are asked at the same time, and whoever is given the name by a majority of them owns it, for as long as the
 * lease is, less the time that this took and a margin for clocks that run at different speeds. A request that gets no
 * majority gives back what it got and is made anew after a random while. The lease is renewed at all nodes, and holds
 * while a majority confirms it.
 *
 * <p><b>What it can't give.</b> Martin Kleppmann's <a
 * href="https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">criticism</a> holds for every
 * lease: a JVM may be paused inside its critical section, and the clock of a node may jump, which ends leases there
 * early; so two threads may believe that they hold the lock. What is at stake has to be protected by
 * {@linkplain DistributedReentrantLock#fencingToken fencing tokens}, which Redlock has not and this lock has: they
 * increase across majorities, since nobody enters before a majority of nodes knows his token. A store that refuses a
 * token smaller than one it has seen is safe from the older of two holders.
 *
 * <p><b>What the nodes owe.</b> They are independent servers, not replicas of each other, and each keeps its data when
 * it is restarted ({@code appendfsync always}), or else stays away for as long as the longest lease: a node that
 * forgets for whom it voted may vote twice.
 *
 * <p>Sessions are safe for use by any number of threads. A quorum lock has nothing to do with the lock of the same name
 * of a single one of its nodes.
 */
public final class QuorumInterlock implements AutoCloseable {
    private final QuorumSession session;

    // One object per name, since the threads of this JVM must share its local half. What is held, owned or waited for
    // stays alive by the session itself.
    private final ConcurrentMap<String, DistributedReentrantLock> locks =
            new MapMaker().weakValues().makeMap();

    QuorumInterlock(QuorumSession session) {
        this.session = session;
    }

    /**
     * Returns the lock of this name. The same object is returned for as long as anybody refers to it or holds it.
     * Nobody queues for it between JVMs: who has waited longest is told first that it is free, and no more is promised.
     * It has no conditions: {@code newCondition()} throws {@link UnsupportedOperationException}.
     *
     * @param name any name but the empty one
     * @return the lock
     * @throws IllegalArgumentException if the name is empty
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock lock(String name) {
        Keys.checkName("name", name);
        session.ensureOpen();
        return locks.computeIfAbsent(
                name,
                absent ->
                        new DistributedReentrantLock(LockOptions.PLAIN, local -> new QuorumLock(session, absent, local)));
    }

    /** Returns the id of this session, as it appears in the owner field of the locks that it owns. */
    public String id() {
        return session.id();
    }

    /**
     * Gives back everything this session owns, at all nodes. Threads that wait for a lock of this session get an
     * {@link IllegalStateException}, as does any later use; a thread that holds one has lost it, and its
     * {@code unlock()} throws {@link LeaseLostException}. Waits for the nodes about one command time-out; the clients
     * stay open. Closing twice does nothing.
     */
    @Override
    public void close() {
        session.close();
    }
}
