package dev.interlock;

import static java.util.Objects.requireNonNull;

import com.google.common.collect.MapMaker;
import dev.interlock.internal.Session;
import dev.interlock.internal.lock.LocalHalf;
import dev.interlock.internal.lock.QueueLock;
import dev.interlock.internal.lock.RedissonLock;
import dev.interlock.internal.lock.RemoteLock;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * A session with Redis: normally one per JVM, from which all synchronizers are obtained by name. Synchronizers of the
 * same name obtained from sessions of different JVMs are one and the same across these JVMs.
 *
 * <pre>{@code
 * try (Interlock interlock = Interlock.connect("redis://127.0.0.1:6379")) {
 *     ReentrantLock lock = interlock.lock("account:42");
 *     lock.lock();
 *     try {
 *         // one thread of one JVM at a time
 *     } finally {
 *         lock.unlock();
 *     }
 * }
 * }</pre>
 *
 * <p>Sessions are safe for use by any number of threads. Requires Redis 6.2 or later, or Valkey.
 */
public final class Interlock implements AutoCloseable {
    private final Session session;

    // One object per name, since the threads of this JVM must share its local half. What is held, owned or waited for
    // stays alive by the session itself.
    private final ConcurrentMap<String, DistributedReentrantLock> locks =
            new MapMaker().weakValues().makeMap();
    private final ConcurrentMap<RLock, DistributedReentrantLock> adapted =
            new MapMaker().weakKeys().weakValues().makeMap();

    Interlock(Session session) {
        this.session = session;
        session.onUnclaimed(message -> QueueLock.giveBack(session, message));
    }

    /**
     * Opens a session over a Redis client of its own, which {@link #close()} shuts down.
     *
     * @param uri {@code redis://[user:password@]host:port[/database]}, or {@code rediss://…}
     * @return the session
     * @throws IllegalArgumentException if {@code uri} isn't of that form
     * @throws RedisUnavailableException if Redis can't be reached there
     */
    public static Interlock connect(String uri) {
        return builder().uri(uri).open();
    }

    /**
     * Opens a session over a client that is already there, which {@link #close()} leaves open.
     *
     * @param client the client
     * @return the session
     * @throws RedisUnavailableException if Redis can't be reached
     */
    public static Interlock using(RedissonClient client) {
        return builder().client(client).open();
    }

    /** Returns a builder, for all that {@link #connect} and {@link #using} leave at its default. */
    public static InterlockBuilder builder() {
        return new InterlockBuilder();
    }

    /**
     * Returns the lock of this name. The same object is returned for as long as anybody refers to it or holds it.
     *
     * @param name any name but the empty one; the lock excludes an {@code RLock} of the same name
     * @return the lock
     * @throws IllegalArgumentException if the name is empty, or in use in this session with options, or as a fair lock
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock lock(String name) {
        return obtain(name, LockOptions.PLAIN);
    }

    /**
     * Returns the lock of this name, which behaves as the options say. Other sessions may use other options for it.
     *
     * @param name as in {@link #lock(String)}
     * @param options how it behaves
     * @return the lock
     * @throws IllegalArgumentException if the name is empty, or in use in this session with other options or as a fair lock
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock lock(String name, LockOptions options) {
        return obtain(name, requireNonNull(options, "options"));
    }

    /**
     * Returns the fair lock of this name: all threads of all JVMs that wait for it get it in the order in which they have
     * come. It excludes the plain lock of the same name in other sessions, whose places in that order are those of
     * sessions, not of threads.
     *
     * @param name as in {@link #lock(String)}
     * @return the lock, whose {@code isFair()} is true
     * @throws IllegalArgumentException if the name is empty, or in use for a lock of this session that isn't fair
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock fairLock(String name) {
        return obtain(name, LockOptions.FAIR);
    }

    private DistributedReentrantLock obtain(String name, LockOptions options) {
        requireNonNull(name, "name");
        if (name.isEmpty()) {
            throw new IllegalArgumentException("name must not be empty");
        }
        session.ensureOpen();
        DistributedReentrantLock known = locks.get(name);
        DistributedReentrantLock lock = known != null
                ? known
                : locks.computeIfAbsent(
                        name, absent -> new DistributedReentrantLock(options, remoteHalf(absent, options)));
        if (!lock.options().equals(options)) {
            throw new IllegalArgumentException("lock '" + name + "' is in use in this session as " + lock.options()
                    + "; it can't be " + options + " at the same time");
        }
        return lock;
    }

    private Function<LocalHalf, RemoteLock> remoteHalf(String name, LockOptions options) {
        return local -> new QueueLock(
                session, name, local, options.isFair(), options.retention().toMillis());
    }

    /**
     * Puts the drop-in type over a lock object of Redisson's: plain, fair, spin, fenced or multi. The local half gives it
     * the JDK's type, its interruption rules, hold counts without a round trip and local hand-off; what decides between
     * JVMs remains Redisson's own protocol, with its guarantees. Adapt an object once and keep the result: two adapters
     * exclude each other, but don't share holds.
     *
     * @param lock the lock to adapt; it may belong to any client
     * @return a lock that excludes every other user of {@code lock}
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock adapt(RLock lock) {
        requireNonNull(lock, "lock");
        session.ensureOpen();
        return adapted.computeIfAbsent(
                lock,
                absent -> new DistributedReentrantLock(
                        LockOptions.PLAIN, local -> new RedissonLock(session, lock, local)));
    }

    /** Returns the id of this session, as it appears in the owner field of the locks that it owns. */
    public String id() {
        return session.id();
    }

    /**
     * Gives back everything this session owns and leaves every queue. Threads that wait for a lock of this session get an
     * {@link IllegalStateException}, as does any later use; a thread that holds one has lost it, and its {@code unlock()}
     * throws {@link LeaseLostException}. Waits for Redis at most one command time-out. Closing twice does nothing.
     */
    @Override
    public void close() {
        session.close();
    }
}
