package dev.interlock;

import static java.util.Objects.requireNonNull;

import com.google.common.collect.ImmutableList;
import com.google.common.collect.ImmutableSortedSet;
import com.google.common.collect.MapMaker;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.HoldQueue;
import dev.interlock.internal.lock.script.ScriptLock;
import dev.interlock.internal.ops.Inquirer;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.semaphore.PermitQueue;
import dev.interlock.internal.session.HoldTerms;
import dev.interlock.internal.session.Holding;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Acquires {@linkplain Hold holds}: exclusive rights to names that belong to no thread. Waiting for one blocks no
 * thread, and any thread may release it. Obtained from {@link Interlock#holds()}.
 *
 * <pre>{@code
 * interlock.holds().acquire("order:42").thenCompose(hold ->
 *         supplyAsync(() -> ship(order)).whenComplete((shipped, failure) -> hold.close()));
 * }</pre>
 *
 * <p>The hold of a name excludes the {@linkplain Interlock#lock drop-in lock} and the {@code RLock} of that name, in
 * this session as in others. To Redis, the holds of a session are a session of their own: with an
 * {@linkplain Interlock#id() id}, a mailbox and a place in each queue beside those of the session's threads. Within
 * that session, holds are granted in the order in which they were asked for. The next one takes the name over without a
 * round trip, until the {@linkplain InterlockBuilder#handoffSlice hand-off slice} is over and others wait.
 *
 * <p>Cancelling a future returned by this class, or completing it in any other way, withdraws the request; a hold
 * granted in the meantime is released. Cancelling a dependent stage does not. Futures are completed on the
 * {@linkplain InterlockBuilder#holdExecutor executor} for holds. By default at most 16 callbacks run at a time: use the
 * {@code …Async} methods with an executor of your own for work that blocks.
 *
 * <p>Requests fail, or throw
 *
 * <ul>
 *   <li>{@link RedisUnavailableException} if Redis hasn't answered within the wait, or for the session's
 *       {@linkplain InterlockBuilder#redisTimeout redisTimeout} if that has no limit;
 *   <li>{@link IllegalStateException} if the session is closed, or Redis refuses the command.
 * </ul>
 *
 * <p>Objects of this class are immutable, and may be used by any number of threads.
 */
public final class Holds {
    private static final Duration SHORTEST_LEASE = Duration.ofMillis(100);
    private static final int MOST_NAMES = 10_000;

    private final RedisSession session;
    private final Predicate<String> isLockedByThread;
    private final ConcurrentMap<String, HoldQueue> queues;
    private final ConcurrentMap<String, PermitQueue> permitQueues;
    private final String by;
    private final long leaseMillis;
    private final Executor executor;

    /**
     * Returns those of a session that has just been opened for them.
     *
     * @param isLockedByThread whether the current thread has the drop-in lock of a name
     * @param executor null for that of the session
     */
    static Holds open(RedisSession session, Predicate<String> isLockedByThread, @Nullable Executor executor) {
        session.onUnclaimed(mail -> ScriptLock.receiveUnclaimed(session, mail));
        // Answers operators.
        new Inquirer(session);
        return new Holds(
                session,
                isLockedByThread,
                new MapMaker().weakValues().makeMap(),
                new MapMaker().weakValues().makeMap(),
                "",
                RemoteLock.RENEWED,
                executor == null ? session.continuations() : executor);
    }

    private Holds(
            RedisSession session,
            Predicate<String> isLockedByThread,
            ConcurrentMap<String, HoldQueue> queues,
            ConcurrentMap<String, PermitQueue> permitQueues,
            String by,
            long leaseMillis,
            Executor executor) {
        this.session = session;
        this.isLockedByThread = isLockedByThread;
        this.queues = queues;
        this.permitQueues = permitQueues;
        this.by = by;
        this.leaseMillis = leaseMillis;
        this.executor = executor;
    }

    // ---- settings

    /**
     * Returns an equivalent object whose holds carry the given text, which operators see in place of a thread's name.
     *
     * @param holder 1 to 1,024 bytes in UTF-8, such as {@code import job 7}
     * @throws IllegalArgumentException if it is empty or too long
     */
    public Holds as(String holder) {
        Keys.checkName("holder", holder);
        return new Holds(session, isLockedByThread, queues, permitQueues, holder, leaseMillis, executor);
    }

    /**
     * Returns an equivalent object whose holds have a fixed lease: they are not renewed, and are lost when it ends
     * unless they are {@linkplain Hold#extend extended}. The lease begins when a name is granted, for each name of
     * several. A lost hold that is never released keeps the name from other threads of this session only if it
     * {@linkplain InterlockBuilder#waitForLostHolders waits for lost holders}.
     *
     * @param lease 100 ms to 365 days
     * @throws IllegalArgumentException if it is out of its range
     */
    public Holds lease(Duration lease) {
        return new Holds(session, isLockedByThread, queues, permitQueues, by, leaseMillis(lease), executor);
    }

    static long leaseMillis(Duration lease) {
        return InterlockBuilder.checked("lease", lease, SHORTEST_LEASE).toMillis();
    }

    // ---- one name

    /**
     * Asks for a hold, and waits for it without a limit.
     *
     * @param name as in {@link Interlock#lock(String)}
     * @throws IllegalArgumentException if the name is empty, too long or like one of this library's own keys
     * @throws IllegalStateException if the session is closed
     */
    public CompletableFuture<Hold> acquire(String name) {
        return queue(name).acquire(terms(RemoteWait.FOREVER), held -> new SingleHold(held.orElseThrow()));
    }

    /**
     * Asks for a hold once, as {@code tryLock()} does.
     *
     * @param name as in {@link #acquire}
     * @return a future without a value if the name isn't free, or others wait for it
     * @throws IllegalArgumentException as {@link #acquire}
     * @throws IllegalStateException as {@link #acquire}
     */
    public CompletableFuture<Optional<Hold>> tryAcquire(String name) {
        return tryAcquire(name, Duration.ZERO);
    }

    /**
     * Asks for a hold, waiting up to the given time.
     *
     * @param name as in {@link #acquire}
     * @param wait 0 to 365 days; with 0 the name is asked for once, as by {@code tryLock()}
     * @return a future without a value if it can't be had within the wait
     * @throws IllegalArgumentException as {@link #acquire}, or if {@code wait} is out of its range
     * @throws IllegalStateException as {@link #acquire}
     */
    public CompletableFuture<Optional<Hold>> tryAcquire(String name, Duration wait) {
        return queue(name).acquire(terms(nanos(wait)), Holds::single);
    }

    /**
     * Acquires a hold. The current thread waits for it, and doesn't own it afterwards.
     *
     * @param name as in {@link #acquire}
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; then nothing is held
     * @throws IllegalStateException as {@link #acquire}, or if the current thread has the drop-in lock of that name,
     *     and so would wait for itself
     * @throws IllegalArgumentException as {@link #acquire}
     * @throws RedisUnavailableException if Redis doesn't answer for the session's {@code redisTimeout}
     */
    public Hold hold(String name) throws InterruptedException {
        HoldQueue queue = queueOfOthers(name);
        return await(queue.acquire(termsOfThread(RemoteWait.FOREVER), Holds::single), true)
                .orElseThrow();
    }

    /**
     * Acquires a hold if that is possible within a wait.
     *
     * @param name as in {@link #acquire}
     * @param wait as in {@link #tryAcquire(String, Duration)}
     * @return the hold, or nothing
     * @throws InterruptedException as {@link #hold}
     * @throws IllegalStateException as {@link #hold}
     * @throws IllegalArgumentException as {@link #tryAcquire(String, Duration)}
     * @throws RedisUnavailableException if Redis doesn't answer within the wait
     */
    public Optional<Hold> tryHold(String name, Duration wait) throws InterruptedException {
        HoldQueue queue = queueOfOthers(name);
        return await(queue.acquire(termsOfThread(nanos(wait)), Holds::single), true);
    }

    // ---- several names

    /**
     * Asks for one hold of several names, all or none, and waits without a limit. Callers may name them in any order:
     * names are acquired in the order of their text by all sessions, so there is no deadlock among those that acquire
     * all that they want by one call. While waiting for one name, the request holds those that precede it; if it loses
     * one of them, it begins anew, or fails with a {@link LeaseLostException} if it has a fixed lease.
     *
     * <p>Names that are free cost a round trip for each hundred. The names may belong to different slots of a cluster.
     *
     * @param names 1 to 10,000, each as in {@link #acquire}; repeated ones count once
     * @throws IllegalArgumentException if there are none or too many, or as {@link #acquire}
     * @throws IllegalStateException as {@link #acquire}
     */
    public CompletableFuture<Hold> acquireAll(Collection<String> names) {
        return gather(sorted(names), terms(RemoteWait.FOREVER), Optional::orElseThrow);
    }

    /**
     * Asks for one hold of several names, all or none, waiting up to the given time.
     *
     * @param names as in {@link #acquireAll}
     * @param wait as in {@link #tryAcquire(String, Duration)}
     * @return a future without a value if they can't all be had within the wait
     * @throws IllegalArgumentException as {@link #acquireAll}, or if {@code wait} is out of its range
     * @throws IllegalStateException as {@link #acquire}
     */
    public CompletableFuture<Optional<Hold>> tryAcquireAll(Collection<String> names, Duration wait) {
        return gather(sorted(names), terms(nanos(wait)), Function.identity());
    }

    /**
     * Acquires one hold of several names. The current thread waits for it, and doesn't own it afterwards.
     *
     * @param names as in {@link #acquireAll}
     * @throws InterruptedException as {@link #hold}
     * @throws IllegalStateException as {@link #hold}, of any of the names
     * @throws IllegalArgumentException as {@link #acquireAll}
     * @throws RedisUnavailableException as {@link #hold}
     */
    public Hold holdAll(Collection<String> names) throws InterruptedException {
        return tryHoldAll(sorted(names), RemoteWait.FOREVER, true).orElseThrow();
    }

    /**
     * Acquires one hold of several names if that is possible within a wait.
     *
     * @param names as in {@link #acquireAll}
     * @param wait as in {@link #tryAcquire(String, Duration)}
     * @return the hold, or nothing
     * @throws InterruptedException as {@link #hold}
     * @throws IllegalStateException as {@link #hold}, of any of the names
     * @throws IllegalArgumentException as {@link #tryAcquireAll}
     * @throws RedisUnavailableException as {@link #tryHold}
     */
    public Optional<Hold> tryHoldAll(Collection<String> names, Duration wait) throws InterruptedException {
        return tryHoldAll(sorted(names), nanos(wait), true);
    }

    Optional<Hold> tryHoldAll(ImmutableList<String> names, long waitNanos, boolean interruptible)
            throws InterruptedException {
        names.forEach(this::checkThread);
        return await(gather(names, termsOfThread(waitNanos), Function.identity()), interruptible);
    }

    private <T> CompletableFuture<T> gather(
            ImmutableList<String> names, HoldTerms terms, Function<Optional<Hold>, T> made) {
        session.ensureAcquiring();
        return new Gathering<>(session, this::queueOf, names, terms, made).begin();
    }

    /** Returns each name once, in the order in which all sessions acquire them. */
    ImmutableList<String> sorted(Collection<String> names) {
        requireNonNull(names, "names");
        ImmutableList<String> sorted = ImmutableSortedSet.copyOf(names).asList();
        if (sorted.isEmpty() || sorted.size() > MOST_NAMES) {
            throw new IllegalArgumentException(
                    "names must contain 1 to 10,000 different names, but contains " + sorted.size());
        }
        sorted.forEach(this::check);
        return sorted;
    }

    // ---- permits

    /**
     * Asks for permits of a semaphore, all at once, and waits without a limit. Like a hold of a name, they belong to no
     * thread.
     *
     * <p>To the pool, these permits are those of another session than the permits that threads of this session have:
     * {@link DistributedSemaphore#release()} doesn't release them, and {@link Hold#release} no others. Requests are
     * served in FIFO order; if the semaphore isn't fair, one that comes as permits become free may get them first.
     * Permits have no fencing tokens; if the session loses them, it loses all, and each hold is told.
     *
     * @param semaphore a semaphore of this session that isn't adapted
     * @param permits 1 or more
     * @throws IllegalArgumentException if {@code semaphore} is an adapted one, or {@code permits} is less than 1
     * @throws UnsupportedOperationException if this has a {@linkplain #lease fixed lease}
     * @throws IllegalStateException if the session is closed
     */
    public CompletableFuture<Hold> acquirePermits(DistributedSemaphore semaphore, int permits) {
        return queue(semaphore, permits)
                .acquire(permits, terms(RemoteWait.FOREVER), held -> new SingleHold(held.orElseThrow()));
    }

    /**
     * Asks for permits of a semaphore, all at once, waiting up to the given time.
     *
     * @param semaphore as in {@link #acquirePermits}
     * @param permits 1 or more
     * @param wait 0 to 365 days; with 0 the pool is asked once, and refuses if others wait and the semaphore is fair
     * @return a future without a value if they can't be had within the wait
     * @throws IllegalArgumentException as {@link #acquirePermits}, or if {@code wait} is out of its range
     * @throws UnsupportedOperationException as {@link #acquirePermits}
     * @throws IllegalStateException as {@link #acquirePermits}
     */
    public CompletableFuture<Optional<Hold>> tryAcquirePermits(
            DistributedSemaphore semaphore, int permits, Duration wait) {
        return queue(semaphore, permits).acquire(permits, terms(nanos(wait)), Holds::single);
    }

    private PermitQueue queue(DistributedSemaphore semaphore, int permits) {
        requireNonNull(semaphore, "semaphore");
        if (permits < 1) {
            throw new IllegalArgumentException("permits must be 1 or more, but are " + permits);
        }
        if (leaseMillis != RemoteLock.RENEWED) {
            throw new UnsupportedOperationException("permits can't have a fixed lease; names can");
        }
        semaphore.checkNotAdapted();
        session.ensureAcquiring();
        return permitQueues.computeIfAbsent(semaphore.getName(), absent -> semaphore.withoutThreads(session));
    }

    // ---- all of them

    private void check(String name) {
        Keys.checkName("name", name);
        Keys.checkLockKey("name", session.key(name));
    }

    HoldQueue queue(String name) {
        check(name);
        session.ensureAcquiring();
        return queueOf(name);
    }

    private HoldQueue queueOf(String name) {
        return queues.computeIfAbsent(name, absent -> new HoldQueue(session, absent));
    }

    private HoldQueue queueOfOthers(String name) {
        checkThread(name);
        return queue(name);
    }

    private void checkThread(String name) {
        if (isLockedByThread.test(name)) {
            throw new IllegalStateException("the current thread has lock " + Names.quoted(name)
                    + ", so that it would wait for itself; unlock it before, or use a hold for both");
        }
    }

    private static Optional<Hold> single(Optional<? extends Holding> held) {
        return held.map(SingleHold::new);
    }

    private HoldTerms terms(long waitNanos) {
        return new HoldTerms(waitNanos, leaseMillis, by, executor, executor);
    }

    /** Of a request for which the current thread waits. */
    private HoldTerms termsOfThread(long waitNanos) {
        String holder = by.isEmpty() ? Thread.currentThread().getName() : by;
        return new HoldTerms(waitNanos, leaseMillis, holder, Runnable::run, executor);
    }

    private static long nanos(Duration wait) {
        return InterlockBuilder.checked("wait", wait, Duration.ZERO).toNanos();
    }

    /** Waits for a result, and withdraws the request if the thread doesn't wait any longer. */
    private Optional<Hold> await(CompletableFuture<Optional<Hold>> result, boolean interruptible)
            throws InterruptedException {
        RemoteWait wait = new RemoteWait(
                session,
                interruptible,
                RemoteWait.FOREVER,
                waited -> new RedisUnavailableException(
                        "Redis has not answered", session.outage().cause()));
        boolean isDone = false;
        try (wait) {
            wait.checkInterrupt();
            wait.until(result, this, RemoteWait.FOREVER);
            isDone = true;
        } finally {
            if (!isDone && !result.cancel(false) && !result.isCompletedExceptionally()) {
                result.join().ifPresent(Hold::release);
            }
        }
        if (!result.isCompletedExceptionally()) {
            return result.join();
        }
        // With the stack of the thread that waits.
        Throwable cause = Failures.of(result);
        throw cause instanceof RedisUnavailableException
                ? new RedisUnavailableException(String.valueOf(cause.getMessage()), cause)
                : new IllegalStateException(cause.getMessage(), cause);
    }

    // ---- for the session

    RedisSession session() {
        return session;
    }
}
