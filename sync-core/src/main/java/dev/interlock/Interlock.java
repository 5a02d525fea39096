package dev.interlock;

import static java.util.Objects.requireNonNull;

import com.google.common.collect.MapMaker;
import dev.interlock.internal.latch.LocalLatch;
import dev.interlock.internal.latch.RedissonLatch;
import dev.interlock.internal.latch.RemoteLatch;
import dev.interlock.internal.latch.ScriptLatch;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.redisson.RedissonLock;
import dev.interlock.internal.lock.redisson.RedissonReadWriteLock;
import dev.interlock.internal.lock.script.ScriptLock;
import dev.interlock.internal.lock.script.ScriptReadWriteLock;
import dev.interlock.internal.ratelimit.Lines;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.semaphore.RedissonSemaphore;
import dev.interlock.internal.semaphore.ScriptSemaphore;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
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
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration LEAST_RETENTION = Duration.ofSeconds(1);
    private static final Duration MOST_RETENTION = Duration.ofDays(365);

    private final RedisSession session;

    /** The lease that Redisson's watchdog renews. */
    private final long watchdogMillis;

    // One object per name, since the threads of this JVM must share its local half. What is held, owned or waited for
    // stays alive by the session itself.
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
    private final Lines lines;
    private final ConcurrentMap<RSemaphore, DistributedSemaphore> adaptedSemaphores =
            new MapMaker().weakKeys().weakValues().makeMap();

    Interlock(RedisSession session, RedissonClient client) {
        this.session = session;
        this.watchdogMillis = client.getConfig().getLockWatchdogTimeout();
        this.barriers = new Barriers(session);
        this.lines = new Lines(session);
        session.onUnclaimed(mail -> ScriptLock.giveBack(session, mail));
    }

    /**
     * Opens a session over a Redis client of its own (of as many event loops as processors), which {@link #close()}
     * shuts down.
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

    /**
     * Opens a session over several independent servers, of which a majority decides.
     *
     * @param clients of one server each: an odd number, 3 or more, no server twice. {@link QuorumInterlock#close()}
     *     leaves them open
     * @return the session
     * @throws IllegalArgumentException if {@code clients} isn't of that kind
     * @throws RedisUnavailableException if no majority can be reached
     */
    public static QuorumInterlock quorum(List<RedissonClient> clients) {
        return builder().openQuorum(clients);
    }

    /** Returns a builder, for all that {@link #connect}, {@link #using} and {@link #quorum} leave at its default. */
    public static InterlockBuilder builder() {
        return new InterlockBuilder();
    }

    /**
     * Returns the lock of this name. The same object is returned for as long as anybody refers to it or holds it.
     *
     * @param name any name but the empty one and those like our own keys, which begin with {@code interlock:} and
     *     contain an opening brace; the lock excludes an {@code RLock} of the same name
     * @return the lock
     * @throws IllegalArgumentException if the name is empty or like a key of ours, or in use in this session with
     *     options, or as a fair lock
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
     * @throws IllegalArgumentException if the name is empty, or in use in this session with other options or as a fair
     *     lock
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReentrantLock lock(String name, LockOptions options) {
        return obtain(name, requireNonNull(options, "options"));
    }

    /**
     * Returns the fair lock of this name: all threads of all JVMs that wait for it get it in the order in which they
     * have come. It excludes the plain lock of the same name in other sessions, whose places in that order are those of
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

    /**
     * Returns the read-write lock of this name. The same object is returned for as long as anybody refers to it or
     * holds it. It has nothing to do with the {@linkplain #lock lock} of that name, nor with an {@code RReadWriteLock}.
     *
     * @param name any name but the empty one
     * @return the lock
     * @throws IllegalArgumentException if the name is empty, or in use in this session for a fair read-write lock
     * @throws IllegalStateException if this session is closed
     */
    public DistributedReadWriteLock readWriteLock(String name) {
        return readWriteLock(name, false);
    }

    /**
     * Returns the fair read-write lock of this name. JVMs get it in the order in which they have come to wait, and have
     * it no longer than they must if others wait; JVMs that wait to read, one after the other, get it together. Threads
     * of one JVM get it in the order in which they have come to wait there. Excludes the other read-write lock of the
     * same name in other sessions.
     *
     * @param name as in {@link #readWriteLock}
     * @return the lock, whose {@code isFair()} is true
     * @throws IllegalArgumentException if the name is empty, or in use in this session for a read-write lock that isn't
     *     fair
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
                        fair, answerNanos(), local -> new ScriptReadWriteLock(session, absent, local, fair)));
        if (lock.isFair() != fair) {
            throw new IllegalArgumentException(
                    "read-write lock " + Keys.quoted(name) + " is in use in this session as one that is "
                            + (fair ? "not fair" : "fair") + "; it can't be both at the same time");
        }
        return lock;
    }

    /**
     * Returns the barrier of this name, at which threads of all JVMs wait for each other. This session is a member of
     * it from now on, for as long as anybody here refers to it: its death breaks the current generation. The same
     * object is returned for so long. A round trip.
     *
     * @param name any name but the empty one
     * @param parties how many threads have to arrive, 1 or more; the first to name the barrier says so for all
     * @return the barrier
     * @throws IllegalArgumentException if the name is empty, {@code parties} is less than 1, the barrier has another
     *     number of parties, or it is in use in this session with an action
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if this session is closed
     */
    public DistributedCyclicBarrier cyclicBarrier(String name, int parties) {
        return obtainBarrier(name, parties, null);
    }

    /**
     * Returns the barrier of this name, with an action to be run by the last thread to arrive if that is one of this
     * session.
     *
     * @param name as in {@link #cyclicBarrier(String, int)}
     * @param parties as in {@link #cyclicBarrier(String, int)}
     * @param action what to run when all have arrived, before any of them goes on; null for nothing
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
     * Returns the semaphore of this name, whose permits belong to the sessions that have acquired them. The same object
     * is returned for as long as anybody refers to it or has permits by it. It has nothing to do with an
     * {@code RSemaphore} of that name.
     *
     * @param name any name but the empty one
     * @param permits how many there are in all; any number, as in the JDK. Whoever names a semaphore first creates it
     *     with so many
     * @return the semaphore
     * @throws IllegalArgumentException if the name is empty, or the semaphore has another number of permits or other
     *     options
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out: it is asked when the
     *     semaphore is first obtained in this session
     * @throws IllegalStateException if this session is closed
     */
    public DistributedSemaphore semaphore(String name, int permits) {
        return semaphore(name, permits, SemaphoreOptions.PLAIN);
    }

    /**
     * Returns the semaphore of this name, which behaves as the options say.
     *
     * @param name as in {@link #semaphore(String, int)}
     * @param permits as in {@link #semaphore(String, int)}
     * @param options how it behaves
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
                        local -> new ScriptSemaphore(session, absent, permits, options.isOwned(), local)));
        if (!semaphore.options().equals(options)) {
            throw new IllegalArgumentException("semaphore " + Keys.quoted(name) + " is in use in this session as "
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
     * Returns the rate limiter of this name. Costs nothing but the object. JVMs that obtain it by different limits
     * count together what they take, and each holds that against its own limit, until a limit is
     * {@linkplain RateLimiter#update set for all}.
     *
     * @param name any name but the empty one; the limiter has nothing to do with an {@code RRateLimiter} of that name
     * @param limit how many permits there are in how much time
     * @return the limiter
     * @throws IllegalArgumentException if the name is empty
     * @throws IllegalStateException if this session is closed
     */
    public RateLimiter rateLimiter(String name, RateLimit limit) {
        checkUse(name);
        return lines.limiter(name, requireNonNull(limit, "limit"));
    }

    private long answerNanos() {
        return TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
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
            throw new IllegalArgumentException("lock " + Keys.quoted(name) + " is in use in this session as "
                    + lock.options() + "; it can't be " + options + " at the same time");
        }
        return lock;
    }

    private Function<LocalLock, RemoteLock> remoteHalf(String name, LockOptions options) {
        return local -> new ScriptLock(
                session, name, local, options.isFair(), options.retention().toMillis());
    }

    /**
     * Puts the drop-in type over a lock object of Redisson's: plain, fair, spin, fenced or multi. The local half gives
     * it the JDK's type, its interruption rules, hold counts without a round trip and local hand-off; what decides
     * between JVMs remains Redisson's own protocol, with its guarantees. Adapt an object once and keep the result: two
     * adapters exclude each other, but don't share holds. {@code isFair()} is false, also over a fair lock of
     * Redisson's: that knows of one waiter per session, and threads of this JVM barge and hand the lock to each other
     * as over any other lock.
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
     * Puts the drop-in type over a read-write lock object of Redisson's. The threads of this JVM that read share one
     * acquisition of its read lock; what decides between JVMs remains Redisson's own protocol, in which nobody waits in
     * a queue. It knows neither conditions nor fencing tokens: the write lock's {@code newCondition()} and
     * {@code fencingToken()} throw {@link UnsupportedOperationException}. Adapt an object once and keep the result: two
     * adapters exclude each other, but don't share holds.
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
                        false,
                        answerNanos(),
                        local -> new RedissonReadWriteLock(session, absent, watchdogMillis, local)));
    }

    /**
     * Joins the latch of this name, or makes it, to be known to be open for a day after it was opened. As
     * {@link #countDownLatch(String, int, Duration)}.
     *
     * @param name any name but the empty one
     * @param count how often it has to be counted down, 0 or more
     * @return the latch
     * @throws IllegalArgumentException if the name is empty, the count negative, or the latch began with another count
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if this session is closed
     */
    public DistributedCountDownLatch countDownLatch(String name, int count) {
        return countDownLatch(name, count, DAY);
    }

    /**
     * Joins the latch of this name, or makes it if there is none. Whoever names it first sets its count and its
     * retention; those who come later, in whichever JVM, have to name the same count, and their retention is of no
     * account. Needs a round trip each time. The same object is returned for as long as anybody refers to it, waits for
     * it or has something to tell Redis.
     *
     * @param name any name but the empty one; the latch has nothing to do with an {@code RCountDownLatch} of that name
     * @param count how often it has to be counted down, 0 or more; with 0 it is open
     * @param retention for how long after it was opened latecomers find it open, 1 s to 365 days. The name is free for
     *     another latch after that
     * @return the latch
     * @throws IllegalArgumentException if the name is empty, the count negative, the retention out of its range, or the
     *     latch began with another count
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
        return joined(latches, name, count, local -> new ScriptLatch(session, name, count, retention.toMillis(), local));
    }

    /**
     * Puts the drop-in type over a latch object of Redisson's. Its count is what was set by {@code trySetCount}: a
     * latch whose count nobody has set is open, as Redisson has it. The local half gives it the JDK's type and its
     * interruption rules, and waits that a lost message can't hang; what counts remains Redisson's own protocol, in
     * which a count-down whose reply was lost may count twice. An adapter that was open once is open for good; if the
     * latch is set anew, adapt it anew.
     *
     * @param latch the latch to adapt; it may belong to any client
     * @return a latch that is opened when {@code latch} is
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
     * Puts the drop-in type over a semaphore object of Redisson's, which somebody has to give its permits by
     * {@link RSemaphore#trySetPermits}. The local half gives it the JDK's type, its interruption rules, waits that no
     * lost message prolongs by more than a second, and local hand-off; what decides between JVMs remains Redisson's own
     * counter. So its permits {@linkplain SemaphoreOptions#unowned belong to nobody}, those of a JVM that has died
     * don't return, nobody waits in a queue, and a command whose answer was lost isn't repeated: its permits may be
     * missing for good. {@link DistributedSemaphore#resize} throws {@link UnsupportedOperationException}. Adapt an
     * object once and keep the result: two adapters share their permits, but hand nothing on to each other's threads.
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
                        session,
                        SemaphoreOptions.unowned(),
                        local -> new RedissonSemaphore(session, absent, local)));
    }

    /** Returns the id of this session, as it appears in the owner field of the locks that it owns. */
    public String id() {
        return session.id();
    }

    /**
     * Gives back everything this session owns and leaves every queue. Threads that wait for a lock of this session get
     * an {@link IllegalStateException}, as does any later use; a thread that holds one has lost it, and its
     * {@code unlock()} throws {@link LeaseLostException}. Waits for Redis at most one command time-out. Closing twice
     * does nothing.
     */
    @Override
    public void close() {
        session.close();
    }
}
