package dev.interlock;

import static java.util.Objects.requireNonNull;

import com.google.common.collect.MapMaker;
import dev.interlock.election.Election;
import dev.interlock.internal.Names;
import dev.interlock.internal.adapters.RedissonLatch;
import dev.interlock.internal.adapters.RedissonLock;
import dev.interlock.internal.adapters.RedissonReadWriteLock;
import dev.interlock.internal.adapters.RedissonSemaphore;
import dev.interlock.internal.election.Candidacy;
import dev.interlock.internal.latch.LocalLatch;
import dev.interlock.internal.latch.RemoteLatch;
import dev.interlock.internal.latch.ScriptLatch;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.ScriptLock;
import dev.interlock.internal.lock.script.ScriptReadWriteLock;
import dev.interlock.internal.ops.Inquirer;
import dev.interlock.internal.ratelimit.RequestQueues;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.semaphore.ScriptSemaphore;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ops.Operator;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * A session with Redis, normally one per JVM. All synchronizers are obtained from it by name. Sessions of different
 * JVMs that obtain a synchronizer by the same name share it.
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
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration SHORTEST_WAIT = Duration.ofMillis(10);
    private static final Duration LEAST_RETENTION = Duration.ofSeconds(1);
    private static final Duration MOST_RETENTION = Duration.ofDays(365);

    private final RedisSession session;

    /** The lease that Redisson's watchdog renews. */
    private final long watchdogMillis;

    // One object per name, since the threads of this JVM must share its local half. The session itself references
    // what its threads hold, own or wait for.
    private final ConcurrentMap<String, DistributedReentrantLock> locks =
            new MapMaker().weakValues().makeMap();
    private final ConcurrentMap<String, DistributedReadWriteLock> readWriteLocks =
            new MapMaker().weakValues().makeMap();
    private final ConcurrentMap<String, DistributedSemaphore> semaphores =
            new MapMaker().weakValues().makeMap();
    private final ConcurrentMap<RLock, DistributedReentrantLock> adaptedLocks =
            new MapMaker().weakKeys().weakValues().makeMap();
    private final ConcurrentMap<RReadWriteLock, DistributedReadWriteLock> adaptedReadWriteLocks =
            new MapMaker().weakKeys().weakValues().makeMap();
    private final ConcurrentMap<String, DistributedCountDownLatch> latches =
            new MapMaker().weakValues().makeMap();
    private final ConcurrentMap<RCountDownLatch, DistributedCountDownLatch> adaptedLatches =
            new MapMaker().weakKeys().weakValues().makeMap();
    private final Barriers barriers;
    private final RequestQueues requestQueues;
    private final Inquirer operator;
    private final ConcurrentMap<RSemaphore, DistributedSemaphore> adaptedSemaphores =
            new MapMaker().weakKeys().weakValues().makeMap();

    /** Opens the session of the holds. */
    private final Function<Interlock, Holds> holdsOpener;

    private final Set<Candidacy> candidates = ConcurrentHashMap.newKeySet();

    /** Held while that is opened, and while this is closed. */
    private final Object opening = new Object();

    private volatile @Nullable Holds holds;

    Interlock(
            RedisSession session,
            Function<Interlock, Holds> holdsOpener,
            RedissonClient client,
            @Nullable Duration deadlockWatch) {
        this.session = session;
        this.holdsOpener = holdsOpener;
        this.watchdogMillis = client.getConfig().getLockWatchdogTimeout();
        this.barriers = new Barriers(session);
        this.requestQueues = new RequestQueues(session);
        this.operator = new Inquirer(session);
        session.onUnclaimed(mail -> ScriptLock.receiveUnclaimed(session, mail));
        ScriptLock.prepare(session);
        if (deadlockWatch != null) {
            operator.watch(deadlockWatch.toMillis());
        }
    }

    /**
     * Opens a session with a Redis client of its own (one event loop per processor), which {@link #close()} shuts down.
     * A client that has connected keeps the JVM alive until it is shut down. That of a single server connects only if
     * it is needed.
     *
     * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code redis-sentinel://host,…/master} or
     *     {@code redis-cluster://host,…}, each also with {@code rediss} for TLS; {@link InterlockBuilder#uri} has the
     *     details
     * @return the session
     * @throws IllegalArgumentException if {@code uri} isn't of that form
     * @throws RedisUnavailableException if Redis can't be reached there
     */
    public static Interlock connect(String uri) {
        return builder().uri(uri).open();
    }

    /**
     * Opens a session with an existing client, which {@link #close()} leaves open.
     *
     * @param client the client
     * @return the session
     * @throws RedisUnavailableException if Redis can't be reached
     */
    public static Interlock using(RedissonClient client) {
        return builder().client(client).open();
    }

    /**
     * Opens a session with several independent servers, of which a majority decides.
     *
     * @param clients of one server each: an odd number, 3 or more, no server twice. {@link QuorumInterlock#close()}
     *     leaves them open
     * @return the session
     * @throws IllegalArgumentException if {@code clients} don't meet these conditions
     * @throws RedisUnavailableException if no majority can be reached
     */
    public static QuorumInterlock quorum(List<RedissonClient> clients) {
        return builder().openQuorum(clients);
    }

    /** Returns a builder, for settings that {@link #connect}, {@link #using} and {@link #quorum} leave at defaults. */
    public static InterlockBuilder builder() {
        return new InterlockBuilder();
    }

    /**
     * Returns the lock of this name. Returns the same object for as long as it is referenced or held.
     *
     * @param name 1 to 1,024 bytes in UTF-8, and none that begins with {@code interlock:} and contains an opening
     *     brace, like this library's own keys. The lock excludes an {@code RLock} of the same name
     * @return the lock
     * @throws IllegalArgumentException if the name is empty or too long or like one of these keys, or in use in this
     *     session with options, or as a fair lock
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock lock(String name) {
        return obtain(name, LockOptions.PLAIN);
    }

    /**
     * Returns the lock of this name, with options. Other sessions may use other options for it.
     *
     * @param name as in {@link #lock(String)}
     * @param options its options
     * @return the lock
     * @throws IllegalArgumentException if the name is empty or too long, or in use in this session with other options
     *     or as a fair lock
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock lock(String name, LockOptions options) {
        return obtain(name, requireNonNull(options, "options"));
    }

    /**
     * Returns the fair lock of this name: all threads of all JVMs get it in order of arrival. It excludes the plain
     * lock of the same name in other sessions; a session with the plain lock has one place in that order, not one for
     * each thread.
     *
     * @param name as in {@link #lock(String)}
     * @return the lock, whose {@code isFair()} is true
     * @throws IllegalArgumentException if the name is empty or too long, or in use for a lock of this session that
     *     isn't fair
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock fairLock(String name) {
        return obtain(name, LockOptions.FAIR);
    }

    /**
     * Returns the read-write lock of this name. Returns the same object for as long as it is referenced or held. The
     * {@linkplain #lock lock} and the {@code RReadWriteLock} of that name are independent of it.
     *
     * @param name 1 to 1,024 bytes in UTF-8
     * @return the lock
     * @throws IllegalArgumentException if the name is empty or too long, or in use in this session for a fair
     *     read-write lock
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, false);
    }

    /**
     * Returns the fair read-write lock of this name. JVMs get it in order of arrival, and keep it no longer than needed
     * while others wait. JVMs that queue to read one after the other get it together. The threads of one JVM get it in
     * order of arrival there. It excludes the read-write lock of the same name that isn't fair in other sessions.
     *
     * @param name as in {@link #readWriteLock}
     * @return the lock, whose {@code isFair()} is true
     * @throws IllegalArgumentException if the name is empty or too long, or in use in this session for a read-write
     *     lock that isn't fair
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReadWriteLock fairReadWriteLock(String name) {
        return readWriteLock(name, true);
    }

    private DistributedReadWriteLock readWriteLock(String name, boolean fair) {
        checkUse(name);
        DistributedReadWriteLock lock = readWriteLocks.computeIfAbsent(
                name,
                absent -> new DistributedReadWriteLock(
                        fair, local -> new ScriptReadWriteLock(session, absent, local, fair)));
        if (lock.isFair() != fair) {
            throw new IllegalArgumentException(
                    "read-write lock " + Names.quoted(name) + " is in use in this session as one that is "
                            + (fair ? "not fair" : "fair") + "; it can't be both at the same time");
        }
        return lock;
    }

    /**
     * Returns the barrier of this name, at which threads of all JVMs wait for each other. This session is a member of
     * it from now on, for as long as the object is referenced: the session's death breaks the current generation.
     * Returns the same object for that time. A round trip.
     *
     * @param name 1 to 1,024 bytes in UTF-8
     * @param parties how many threads have to arrive, 1 or more; the first session to obtain the barrier sets it
     * @return the barrier
     * @throws IllegalArgumentException if the name is empty or too long, {@code parties} is less than 1, the barrier
     *     has another number of parties, or it is in use in this session with an action
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if this session is closed
     */
    public DistributedCyclicBarrier cyclicBarrier(String name, int parties) {
        return obtainBarrier(name, parties, null);
    }

    /**
     * Returns the barrier of this name, with an action. The last thread to arrive runs it if it is a thread of this
     * session.
     *
     * @param name as in {@link #cyclicBarrier(String, int)}
     * @param parties as in {@link #cyclicBarrier(String, int)}
     * @param action what to run when all threads have arrived, before any of them goes on; null for nothing
     * @return the barrier
     * @throws IllegalArgumentException as {@link #cyclicBarrier(String, int)}, or if the barrier is in use in this
     *     session without an action, or with one that isn't the same object
     * @throws RedisUnavailableException as {@link #cyclicBarrier(String, int)}
     * @throws IllegalStateException if this session is closed
     */
    public DistributedCyclicBarrier cyclicBarrier(String name, int parties, @Nullable Runnable action) {
        return obtainBarrier(name, parties, action);
    }

    private DistributedCyclicBarrier obtainBarrier(String name, int parties, @Nullable Runnable action) {
        checkUse(name);
        if (parties < 1) {
            throw new IllegalArgumentException("parties must be 1 or more, not " + parties);
        }
        return barriers.obtain(name, parties, action);
    }

    /**
     * Returns the semaphore of this name, whose permits belong to the sessions that have acquired them. Returns the
     * same object for as long as it is referenced or has acquired permits. An {@code RSemaphore} of that name is
     * independent of it.
     *
     * @param name 1 to 1,024 bytes in UTF-8
     * @param permits the number of permits in all; any number, as in the JDK. The first session to obtain a semaphore
     *     creates it with this number
     * @return the semaphore
     * @throws IllegalArgumentException if the name is empty or too long, or the semaphore has another number of permits
     *     or other options
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out; only the first call for
     *     the semaphore in this session asks it
     * @throws IllegalStateException if this session is closed
     */
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, SemaphoreOptions.PLAIN);
    }

    /**
     * Returns the semaphore of this name, with options.
     *
     * @param name as in {@link #semaphore(String, int)}
     * @param permits as in {@link #semaphore(String, int)}
     * @param options its options
     * @return the semaphore
     * @throws IllegalArgumentException as {@link #semaphore(String, int)}
     * @throws RedisUnavailableException as {@link #semaphore(String, int)}
     * @throws IllegalStateException if this session is closed
     */
    public DistributedSemaphore semaphore(String name, int permits, SemaphoreOptions options) {
        checkUse(name);
        requireNonNull(options, "options");
        DistributedSemaphore semaphore = semaphores.computeIfAbsent(
                name,
                absent -> new DistributedSemaphore(
                        session,
                        options,
                        local -> new ScriptSemaphore(
                                session, absent, permits, options.isOwned(), options.isFair(), local)));
        if (!semaphore.options().equals(options)) {
            throw new IllegalArgumentException("semaphore " + Names.quoted(name) + " is in use in this session as "
                    + semaphore.options() + "; it can't be " + options + " at the same time");
        }
        try {
            semaphore.join(permits);
        } catch (IllegalArgumentException e) {
            if (!semaphore.isJoined()) {
                semaphores.remove(name, semaphore);
            }
            throw e;
        }
        return semaphore;
    }

    /**
     * Returns the rate limiter of this name. No round trip, and no state but the object. JVMs may obtain it with
     * different limits, of other algorithms and windows too: what one limit grants counts against all of up to four
     * that are in use, until a limit is {@linkplain RateLimiter#update set for all}.
     *
     * @param name 1 to 1,024 bytes in UTF-8; an {@code RRateLimiter} of that name is independent of the limiter
     * @param limit how many permits there are in how much time
     * @return the limiter
     * @throws IllegalArgumentException if the name is empty or too long
     * @throws IllegalStateException if this session is closed
     */
    public RateLimiter rateLimiter(String name, RateLimit limit) {
        checkUse(name);
        return requestQueues.limiter(name, requireNonNull(limit, "limit"));
    }

    private void checkUse(String name) {
        Keys.checkName("name", name);
        session.ensureOpen();
    }

    private void checkAdapted(String argument, Object adapted) {
        requireNonNull(adapted, argument);
        session.ensureOpen();
    }

    private DistributedReentrantLock obtain(String name, LockOptions options) {
        checkUse(name);
        Keys.checkLockKey("name", session.key(name));
        DistributedReentrantLock lock = locks.computeIfAbsent(
                name, absent -> new DistributedReentrantLock(options, remoteHalf(absent, options)));
        if (!lock.options().equals(options)) {
            throw new IllegalArgumentException("lock " + Names.quoted(name) + " is in use in this session as "
                    + lock.options() + "; it can't be " + options + " at the same time");
        }
        return lock;
    }

    private Function<Halves<LocalLock>, RemoteLock> remoteHalf(String name, LockOptions options) {
        long kept = options.isConfirmed()
                ? ScriptLock.CONFIRMED
                : options.retention().toMillis();
        long retainMillis = options.isAdaptive() ? ScriptLock.ADAPTIVE : kept;
        return local -> new ScriptLock(session, name, local, options.isFair(), retainMillis);
    }

    /**
     * Adapts a lock object of Redisson's to the drop-in type: plain, fair, spin, fenced or multi. The local half gives
     * it the JDK's type, its interruption rules, hold counts without a round trip and local hand-off. Redisson's own
     * protocol still decides between JVMs, with its guarantees. Adapt an object once and keep the result: two adapters
     * exclude each other, but don't share holds. {@code isFair()} is false, also for a fair lock of Redisson's: that
     * lock sees one waiter per session, and threads of this JVM barge and hand the lock to each other as usual.
     *
     * @param lock the lock to adapt; it may belong to any client
     * @return a lock that excludes every other user of {@code lock}
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock adapt(RLock lock) {
        checkAdapted("lock", lock);
        return adaptedLocks.computeIfAbsent(
                lock,
                absent -> new DistributedReentrantLock(
                        LockOptions.PLAIN, local -> new RedissonLock(session, absent, watchdogMillis, local)));
    }

    /**
     * Adapts a read-write lock object of Redisson's to the drop-in type. The readers of this JVM share one acquisition
     * of its read lock. Redisson's own protocol still decides between JVMs. It has no queue, no conditions and no
     * fencing tokens: the write lock's {@code newCondition()} and {@code fencingToken()} throw
     * {@link UnsupportedOperationException}. Adapt an object once and keep the result: two adapters exclude each other,
     * but don't share holds.
     *
     * @param lock the lock to adapt; it may belong to any client
     * @return a lock that excludes every other user of {@code lock}
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReadWriteLock adapt(RReadWriteLock lock) {
        checkAdapted("lock", lock);
        return adaptedReadWriteLocks.computeIfAbsent(
                lock,
                absent -> new DistributedReadWriteLock(
                        false, local -> new RedissonReadWriteLock(session, absent, watchdogMillis, local)));
    }

    /**
     * Joins the latch of this name, or creates it with a retention of one day, like {@link #countDownLatch(String, int,
     * Duration)}.
     *
     * @param name 1 to 1,024 bytes in UTF-8
     * @param count how many count-downs open the latch, 0 or more
     * @return the latch
     * @throws IllegalArgumentException if the name is empty or too long, the count negative, or the latch began with
     *     another count
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if this session is closed
     */
    public DistributedCountDownLatch countDownLatch(String name, int count) {
        return countDownLatch(name, count, DAY);
    }

    /**
     * Joins the latch of this name, or creates it. The first session to obtain it sets its count and its retention.
     * Later ones, in any JVM, have to state the same count, and their retention is ignored. A round trip each time.
     * Returns the same object for as long as it is referenced, has waiting threads or unconfirmed count-downs.
     *
     * @param name 1 to 1,024 bytes in UTF-8; an {@code RCountDownLatch} of that name is independent of the latch
     * @param count how many count-downs open the latch, 0 or more; with 0 it is open
     * @param retention for how long an opened latch stays open for latecomers, 1 s to 365 days. After that the name is
     *     free for another latch. The log tells, once for each name, if the latch is already open when it is obtained
     * @return the latch
     * @throws IllegalArgumentException if the name is empty or too long, the count negative, the retention out of its
     *     range, or the latch began with another count
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if this session is closed
     */
    public DistributedCountDownLatch countDownLatch(String name, int count, Duration retention) {
        requireNonNull(retention, "retention");
        checkUse(name);
        if (count < 0) {
            throw new IllegalArgumentException("count must be 0 or more, but is " + count);
        }
        if (retention.compareTo(LEAST_RETENTION) < 0 || retention.compareTo(MOST_RETENTION) > 0) {
            throw new IllegalArgumentException("retention must be from 1 s to 365 days, but is " + retention);
        }
        return joined(
                latches, name, count, local -> new ScriptLatch(session, name, count, retention.toMillis(), local));
    }

    /**
     * Adapts a latch object of Redisson's to the drop-in type. Its count is that of {@code trySetCount}: a latch
     * without a count is open, as in Redisson. The local half gives it the JDK's type and its interruption rules, and
     * its waits survive lost messages. Redisson's own protocol still counts: a count-down whose reply was lost may
     * count twice. An adapter that was open once stays open; after another {@code trySetCount}, adapt the latch anew.
     *
     * @param latch the latch to adapt; it may belong to any client
     * @return a latch that opens when {@code latch} does
     * @throws IllegalStateException if this session is closed
     */
    public DistributedCountDownLatch adapt(RCountDownLatch latch) {
        checkAdapted("latch", latch);
        return joined(adaptedLatches, latch, 0, local -> new RedissonLatch(session, latch, local));
    }

    private <K> DistributedCountDownLatch joined(
            ConcurrentMap<K, DistributedCountDownLatch> known,
            K key,
            int count,
            Function<LocalLatch, RemoteLatch> remote) {
        while (true) {
            DistributedCountDownLatch latch =
                    known.computeIfAbsent(key, absent -> new DistributedCountDownLatch(session, remote));
            if (latch.join(count)) {
                return latch;
            }
            known.remove(key, latch);
        }
    }

    /**
     * Adapts a semaphore object of Redisson's to the drop-in type. The application sets its permits by
     * {@link RSemaphore#trySetPermits}. The local half gives it the JDK's type, its interruption rules, waits that a
     * lost message prolongs by at most a second, and local hand-off. Redisson's own counter still decides between JVMs.
     * So its permits {@linkplain SemaphoreOptions#unowned belong to no session}, those of a JVM that has died don't
     * return, JVMs don't queue, and a command whose answer was lost isn't repeated: its permits may be missing for
     * good. {@link DistributedSemaphore#resize} throws {@link UnsupportedOperationException}. Adapt an object once and
     * keep the result: two adapters share their permits, but don't hand them to each other's threads.
     *
     * @param semaphore the semaphore to adapt; it may belong to any client
     * @return a semaphore that shares its permits with every other user of {@code semaphore}
     * @throws IllegalStateException if this session is closed
     */
    public DistributedSemaphore adapt(RSemaphore semaphore) {
        checkAdapted("semaphore", semaphore);
        return adaptedSemaphores.computeIfAbsent(
                semaphore,
                absent -> new DistributedSemaphore(
                        session, SemaphoreOptions.unowned(), local -> new RedissonSemaphore(session, absent, local)));
    }

    /**
     * Returns the object that acquires holds, which belong to no thread. The first call opens a session for them, which
     * takes a round trip and, with {@link Transport#DIRECT}, uses connections of its own. It is closed with this one.
     *
     * @throws RedisUnavailableException if it can't be opened now, unless this session is {@link InterlockBuilder#lazy}
     * @throws IllegalStateException if this session is closed
     */
    public Holds holds() {
        session.ensureAcquiring();
        Holds known = holds;
        return known == null ? openHolds() : known;
    }

    private Holds openHolds() {
        synchronized (opening) {
            session.ensureAcquiring();
            Holds known = holds == null ? holdsOpener.apply(this) : holds;
            holds = known;
            return known;
        }
    }

    /**
     * Returns several names as one lock: a thread gets all of them or none, and the order in which they are given can't
     * cause a deadlock; see {@link Holds#acquireAll}. A thread that has it must not lock one of its names by itself, or
     * by another such lock: it would wait for itself. It is reentrant, and has no conditions. Threads that use the same
     * object wait for each other without a round trip; it isn't fair. It excludes the drop-in locks and holds of these
     * names, in this session as well.
     *
     * @param names as in {@link Holds#acquireAll}
     * @return a new lock. {@code lock()} throws an {@link IllegalStateException} if the current thread has the drop-in
     *     lock of one of the names, and {@code unlock()} a {@link LeaseLostException} if a name is known to be lost
     * @throws IllegalArgumentException as {@link Holds#acquireAll}
     * @throws RedisUnavailableException as {@link #holds}
     * @throws IllegalStateException as {@link #holds}
     */
    public Lock lockAll(Collection<String> names) {
        Holds all = holds();
        return new LockedNames(all, all.sorted(names));
    }

    /**
     * Returns the election of this name. No round trip: this session has a candidate in it when it
     * {@linkplain Election#run stands}.
     *
     * @param name 1 to 1,015 bytes in UTF-8
     * @return the election
     * @throws IllegalArgumentException if the name is empty or too long
     * @throws IllegalStateException if this session is closed
     */
    public Election election(String name) {
        checkUse(name);
        Keys.checkName("name with '" + Election.PREFIX + "' before it", Election.PREFIX + name);
        return new HoldElection(this, name, "");
    }

    /** Closes a candidate with this session, unless it ends before. */
    void add(Candidacy candidate) {
        candidates.add(candidate);
        candidate.ended().whenComplete((done, failure) -> candidates.remove(candidate));
    }

    boolean isLockedByThread(String name) {
        DistributedReentrantLock lock = locks.get(name);
        return lock != null && lock.isHeldByCurrentThread();
    }

    /** Returns what sees who holds what, in this session and all others. */
    public Operator operator() {
        return operator;
    }

    /**
     * Returns an operator that waits for slow sessions.
     *
     * @param wait how long the operator waits for the next answer before it takes all sessions that haven't answered to
     *     be silent, 10 ms to 365 days; {@link #operator()} waits for a second
     * @return the operator
     * @throws IllegalArgumentException if {@code wait} is out of its range
     */
    public Operator operator(Duration wait) {
        return operator.waiting(InterlockBuilder.checked("wait", wait, SHORTEST_WAIT));
    }

    /**
     * Something to do while a lock is held.
     *
     * @param <T> what it returns
     * @param <E> the checked exception that it throws
     */
    @FunctionalInterface
    public interface Task<T extends @Nullable Object, E extends Exception> {
        /** Does it. */
        T call() throws E;
    }

    /**
     * Runs a task while the current thread holds a lock, and releases the lock whatever the task does.
     *
     * <pre>{@code
     * int left = interlock.execute("stock:4711", Duration.ofSeconds(5), () -> store.take(4711));
     * }</pre>
     *
     * <p>The lock is that of {@link #lock(String)}. So a task may execute another one of the same name, and obtain the
     * lock for its fencing token.
     *
     * @param <T> what the task returns
     * @param <E> the checked exception that the task throws, as the compiler infers it: {@link RuntimeException} if
     *     none, {@link Exception} if several that have nothing else in common
     * @param name as in {@link #lock(String)}
     * @param wait the longest wait for the lock, as in {@link DistributedReentrantLock#tryLock(Duration)}; the task
     *     itself may take any time
     * @param task what to run: {@code () -> null} returns nothing, and {@code callable::call} is a {@code Callable}
     * @return what the task has returned, null if it has returned null
     * @throws E what the task throws, unchanged. If the lock had been lost, too, the {@link LeaseLostException} is one
     *     of its {@linkplain Throwable#getSuppressed() suppressed} exceptions
     * @throws TimeoutException if the lock wasn't available within the wait; the task hasn't run
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; the task hasn't run
     * @throws RedisUnavailableException if Redis hasn't answered within the wait; the task hasn't run
     * @throws LeaseLostException if the task has returned, but the lock had been lost meanwhile
     * @throws IllegalArgumentException as {@link #lock(String)}
     * @throws IllegalStateException if this session is closed
     */
    @SuppressWarnings("try") // it is enough to hold the lock
    public <T extends @Nullable Object, E extends Exception> T execute(String name, Duration wait, Task<T, E> task)
            throws E, InterruptedException, TimeoutException {
        requireNonNull(wait, "wait");
        requireNonNull(task, "task");
        DistributedReentrantLock lock = lock(name);
        if (!lock.tryLock(wait)) {
            throw new TimeoutException("lock " + Names.quoted(name) + " wasn't available within " + wait);
        }
        try (Held hold = lock::unlock) {
            return task.call();
        }
    }

    private interface Held extends AutoCloseable {
        @Override
        void close();
    }

    /** Returns the id of this session, as it appears in the owner field of the locks that it owns. */
    public String id() {
        return session.id();
    }

    /** Returns the name of this session for people: {@link InterlockBuilder#sessionName}. */
    public String sessionName() {
        return session.settings().sessionName();
    }

    /**
     * Adds a listener for events of this session, beside those that it has; one that is among them already isn't added
     * again. Threads may add and remove listeners at any time. A listener hears of what begins from now on, of terms
     * that go on, {@link SyncListener#elected}, and if Redis doesn't answer now, also of that:
     * {@link SyncListener#redisUnreachable}.
     *
     * @param listener the listener
     */
    public void addListener(SyncListener listener) {
        session.outage().addListener(requireNonNull(listener, "listener"));
        candidates.forEach(candidate -> candidate.tell(listener));
    }

    /**
     * Removes a listener, if it is one of this session. It still hears the end of waits of whose beginning it has
     * heard.
     *
     * @param listener the listener
     */
    public void removeListener(SyncListener listener) {
        session.settings().listeners().remove(requireNonNull(listener, "listener"));
    }

    /**
     * Returns how many locks threads of this session hold now, shared ones among them, and how many names by
     * {@linkplain #holds() holds}. No round trip; looks at each lock.
     */
    public int heldLocks() {
        return sessions().mapToInt(RedisSession::heldLocks).sum();
    }

    private Stream<RedisSession> sessions() {
        Holds known = holds;
        return known == null ? Stream.of(session) : Stream.of(known.session(), session);
    }

    /**
     * Asks Redis for a sign of life, by a script that does nothing. The first call may have to load it.
     *
     * @return how long the answer took
     * @throws RedisUnavailableException if there is no answer within one command time-out
     * @throws IllegalStateException if this session is closed, or Redis refuses the command
     */
    public Duration ping() {
        return session.ping();
    }

    /**
     * Releases everything this session owns and leaves every queue. Threads that wait for a lock of this session get an
     * {@link IllegalStateException}, as does any later use. A thread that holds a lock has lost it, and its
     * {@code unlock()} throws {@link LeaseLostException}. Waits for Redis one command time-out at most. A second call
     * does nothing.
     */
    @Override
    public void close() {
        close(Duration.ZERO);
    }

    /**
     * Closes this session when its threads have given back what they have, for example in a shutdown hook.
     *
     * <p>From now on no thread gets anything that it doesn't have: those that ask for a lock, a read-write lock or a
     * permit, and those that wait for one in Redis, get an {@link IllegalStateException}; those that queue behind a
     * thread of this session get it when that thread leaves. What nobody has, but the session has kept, is given back
     * at once. Threads that have something go on: leases are renewed, a lock may be locked again by the thread that
     * holds it, {@code unlock()} and {@code release()} work, and so do latches, barriers and rate limiters.
     *
     * <p>This waits for threads that hold locks, readers among them, for {@linkplain #holds() holds}, and for permits
     * of semaphores that belong to the session; not for {@linkplain SemaphoreOptions#unowned unowned} ones, and not for
     * threads that wait for conditions. It would wait in vain for what the calling thread itself holds. Then it does
     * what {@link #close()} does. If threads still have something, a warning in the log says what, and
     * {@link SyncListener#lost} is called.
     *
     * @param await for how long to wait, 0 to 365 days. An interrupt ends the wait, and stays set
     * @throws IllegalArgumentException if {@code await} is out of its range
     */
    public void close(Duration await) {
        long deadline = session.now()
                + InterlockBuilder.checked("await", await, Duration.ZERO).toNanos();
        candidates.forEach(await.isZero() ? Candidacy::abandon : Candidacy::close);
        synchronized (opening) {
            sessions().forEach(RedisSession::refuse);
        }
        Holds known = holds;
        try {
            if (known != null) {
                known.session().close(Math.max(0, deadline - session.now()));
            }
        } finally {
            session.close(Math.max(0, deadline - session.now()));
        }
    }

    /**
     * Waits until threads of this session hold no locks, readers among them, and have no permits that belong to the
     * session, as {@link #close(Duration)} does, but refuses nothing: for an application that has more to do before it
     * closes the session. {@linkplain #election Candidates} withdraw, since a leader would lead until it is closed. It
     * would wait in vain for what the calling thread itself holds.
     *
     * @param await for how long to wait, 0 to 365 days. An interrupt ends the wait, and stays set
     * @return whether there was a moment when they had nothing
     * @throws IllegalArgumentException if {@code await} is out of its range
     */
    public boolean awaitHolders(Duration await) {
        long deadline = session.now()
                + InterlockBuilder.checked("await", await, Duration.ZERO).toNanos();
        candidates.forEach(Candidacy::close);
        while (awaitEach(() -> Math.max(0, deadline - session.now()))) {
            // While one was waited for, something may have been acquired in the other.
            if (awaitEach(() -> 0)) {
                return true;
            }
        }
        return false;
    }

    private boolean awaitEach(LongSupplier waitNanos) {
        return sessions().allMatch(each -> each.awaitHolders(waitNanos.getAsLong()));
    }
}
