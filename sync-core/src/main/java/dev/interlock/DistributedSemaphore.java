package dev.interlock;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.google.common.collect.Lists;
import dev.interlock.internal.DropIn;
import dev.interlock.internal.Names;
import dev.interlock.internal.semaphore.LocalSemaphore;
import dev.interlock.internal.semaphore.PermitQueue;
import dev.interlock.internal.semaphore.RemoteSemaphore;
import dev.interlock.internal.semaphore.ScriptSemaphore;
import dev.interlock.internal.semaphore.SemaphoreSync;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.Session;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serial;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A {@link Semaphore} across JVMs: all threads of all JVMs that use the same Redis share its permits.
 *
 * <p>It <em>is</em> a {@code Semaphore}: the threads of this JVM wait in the superclass's queue, so interruption,
 * timeouts and queue inspection are the JDK's. JVMs queue in Redis, each with one ticket at a time. As soon as the pool
 * has as many permits as the first ticket asks for, Redis pushes them to its JVM: requests for one don't overtake a
 * request for three. A released permit goes to the next thread of the same JVM, without a round trip, unless another
 * JVM waits and this JVM has had the permit for longer than the session's hand-off slice.
 *
 * <pre>{@code
 * DistributedSemaphore connections = interlock.semaphore("connections", 20);   // 20 for the whole fleet
 * connections.acquire();
 * try {
 *     // use one of them
 * } finally {
 *     connections.release();
 * }
 * }</pre>
 *
 * <p><b>How it differs from its superclass.</b> Permits belong to the session that acquired them, for a lease that it
 * renews while it has any. When a JVM dies, its permits return to the pool at the end of the lease. Permits are
 * <em>lost</em> if the session can't keep the lease (the JVM was paused for too long, Redis lost its data): listeners
 * are told, and as many of the following releases free nothing and throw {@link LeaseLostException}. Releasing more
 * permits than the session has enlarges the pool, as in the JDK. A semaphore with {@linkplain SemaphoreOptions#unowned
 * unowned} permits has the JDK's meaning, without leases and loss. When Redis doesn't answer, acquiring methods throw
 * {@link RedisUnavailableException}. {@linkplain SemaphoreOptions#fair Fairness} is FIFO among the JVMs that wait and
 * among the threads of each, not among all threads. A request for no permits doesn't wait, even if the pool has less
 * than none. Serialization is refused; obtain the semaphore by its name instead.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, actions before a {@code release()} happen-before those after an
 * acquisition that gets the permit without it having left the JVM, or after any acquisition that follows the return of
 * {@code release()} in time. JVMs share no memory.
 */
public final class DistributedSemaphore extends Semaphore {
    @Serial
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // serialization is refused
    private final SemaphoreSync sync;

    @SuppressWarnings("serial") // serialization is refused
    private final SemaphoreOptions options;

    private volatile boolean joined;

    // The local half is always fair: a thread from its queue goes before threads that would barge.
    DistributedSemaphore(Session session, SemaphoreOptions options, RemoteSemaphore.Factory remote) {
        super(0, true);
        this.options = options;
        this.sync = new SemaphoreSync(session, new Local(), remote);
    }

    SemaphoreOptions options() {
        return options;
    }

    void checkNotAdapted() {
        if (!(sync.remote() instanceof ScriptSemaphore)) {
            throw new IllegalArgumentException(
                    "semaphore must not be an adapted one, but " + Names.quoted(getName()) + " is");
        }
    }

    /** Returns the semaphore of that name and number of permits as one whose permits no thread owns. */
    PermitQueue withoutThreads(RedisSession session) {
        return new PermitQueue(session, getName(), sync.remote().permits(), options.isOwned(), options.isFair());
    }

    /** Returns whether Redis has agreed to the stated number of permits. */
    boolean isJoined() {
        return joined;
    }

    /**
     * Makes sure that Redis agrees to the number of permits.
     *
     * @throws IllegalArgumentException if the semaphore has another number
     */
    void join(int permits) {
        if (!joined) {
            sync.join();
        } else if (sync.remote().permits() != permits) {
            // Another session may have changed the number.
            sync.available();
        }
        int actual = sync.remote().permits();
        if (actual != permits) {
            throw new IllegalArgumentException("semaphore " + Names.quoted(getName()) + " was stated to have " + permits
                    + " permits, but has " + actual + "; resize() changes that");
        }
        joined = true;
    }

    /** Returns the name of this semaphore, without the session's namespace. */
    public String getName() {
        return sync.name();
    }

    /**
     * Acquires a permit and waits without a limit of time.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; it has acquired nothing
     * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public void acquire() throws InterruptedException {
        sync.acquire(1);
    }

    /**
     * Acquires a permit and waits without a limit of time. An interrupt doesn't end the wait; the thread's interrupt
     * flag is set on return.
     *
     * @throws RedisUnavailableException as {@link #acquire()}
     * @throws IllegalStateException as {@link #acquire()}
     */
    @Override
    public void acquireUninterruptibly() {
        sync.acquireUninterruptibly(1);
    }

    /**
     * Acquires a permit if there is one now. Barges past all threads of all JVMs that wait. A round trip, unless this
     * JVM has a permit to spare.
     *
     * @return whether it was acquired
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out; the thread has acquired
     *     nothing
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public boolean tryAcquire() {
        return sync.tryAcquire(1);
    }

    /**
     * Acquires a permit if that becomes possible within the wait. A wait of zero or less asks once, like
     * {@link #tryAcquire()}; but if this is fair, it is refused while any thread of any JVM waits.
     *
     * @param timeout the longest wait
     * @param unit its unit
     * @return whether it was acquired
     * @throws InterruptedException as {@link #acquire()}
     * @throws RedisUnavailableException if Redis is silent when the wait is over, or has been for the session's
     *     {@code redisTimeout}
     * @throws IllegalStateException as {@link #acquire()}
     */
    @Override
    public boolean tryAcquire(long timeout, TimeUnit unit) throws InterruptedException {
        return sync.tryAcquire(1, requireNonNull(unit, "unit").toNanos(timeout));
    }

    /**
     * As {@link #tryAcquire(long, TimeUnit)}.
     *
     * @param wait the longest wait; more than 292 years are as many
     * @return whether it was acquired
     * @throws InterruptedException as {@link #acquire()}
     * @throws RedisUnavailableException as {@link #tryAcquire(long, TimeUnit)}
     * @throws IllegalStateException as {@link #acquire()}
     */
    public boolean tryAcquire(Duration wait) throws InterruptedException {
        return tryAcquire(1, wait);
    }

    /**
     * Releases a permit: to the next thread of this JVM, or to the pool. Waits for the confirmation at most one command
     * time-out, and doesn't fail if Redis is silent: the session repeats the release in the background.
     *
     * @throws LeaseLostException if a permit of this session had been lost, as is known before or by the confirmation;
     *     this release accounts for it and frees nothing
     * @throws IllegalStateException if the session is closed
     * @throws Error if Redis says that the pool would have more than {@link Integer#MAX_VALUE} permits
     */
    @Override
    public void release() {
        sync.release(1);
    }

    /**
     * Acquires permits, all at once, and waits without a limit of time. Takes none of them until all are there.
     *
     * @param permits 0 or more
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws InterruptedException as {@link #acquire()}
     * @throws RedisUnavailableException as {@link #acquire()}
     * @throws IllegalStateException as {@link #acquire()}
     */
    @Override
    public void acquire(int permits) throws InterruptedException {
        sync.acquire(checked(permits));
    }

    /**
     * Acquires permits, all at once, and waits like {@link #acquireUninterruptibly()}.
     *
     * @param permits 0 or more
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws RedisUnavailableException as {@link #acquire()}
     * @throws IllegalStateException as {@link #acquire()}
     */
    @Override
    public void acquireUninterruptibly(int permits) {
        sync.acquireUninterruptibly(checked(permits));
    }

    /**
     * Acquires permits if all of them are there now, like {@link #tryAcquire()}.
     *
     * @param permits 0 or more
     * @return whether they were acquired
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    @Override
    public boolean tryAcquire(int permits) {
        return sync.tryAcquire(checked(permits));
    }

    /**
     * Acquires permits, all at once, if that becomes possible within the wait, like {@link #tryAcquire(long,
     * TimeUnit)}.
     *
     * @param permits 0 or more
     * @param timeout the longest wait
     * @param unit its unit
     * @return whether they were acquired
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws InterruptedException as {@link #acquire()}
     * @throws RedisUnavailableException as {@link #tryAcquire(long, TimeUnit)}
     * @throws IllegalStateException as {@link #acquire()}
     */
    @Override
    public boolean tryAcquire(int permits, long timeout, TimeUnit unit) throws InterruptedException {
        return sync.tryAcquire(checked(permits), requireNonNull(unit, "unit").toNanos(timeout));
    }

    /**
     * As {@link #tryAcquire(int, long, TimeUnit)}.
     *
     * @param permits 0 or more
     * @param wait the longest wait; more than 292 years are as many
     * @return whether they were acquired
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws InterruptedException as {@link #acquire()}
     * @throws RedisUnavailableException as {@link #tryAcquire(long, TimeUnit)}
     * @throws IllegalStateException as {@link #acquire()}
     */
    public boolean tryAcquire(int permits, Duration wait) throws InterruptedException {
        return sync.tryAcquire(checked(permits), NANOSECONDS.convert(requireNonNull(wait, "wait")));
    }

    /**
     * Acquires all permits that the pool has now, past all threads that wait; a pool that has less than none then has
     * none.
     *
     * @return the number of permits that the pool had: those acquired, or a negative number
     * @throws RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    @Override
    public int drainPermits() {
        return sync.drain();
    }

    /**
     * Releases permits, like {@link #release()}. Lost permits count first.
     *
     * @param permits 0 or more
     * @throws IllegalArgumentException if {@code permits} is negative
     * @throws LeaseLostException if some of them had been lost; the others are released
     * @throws IllegalStateException as {@link #release()}
     * @throws Error as {@link #release()}
     */
    @Override
    public void release(int permits) {
        sync.release(checked(permits));
    }

    private static int checked(int permits) {
        if (permits < 0) {
            throw new IllegalArgumentException("permits must be 0 or more, but is " + permits);
        }
        return permits;
    }

    /**
     * Takes permits out of the pool for good, without waiting for them: the pool may have less than none afterwards.
     * Waits for the confirmation like {@link #release()}. The stated number of permits stays the same, in contrast to
     * {@link #resize}.
     *
     * @param reduction 0 or more
     * @throws IllegalArgumentException if {@code reduction} is negative
     * @throws IllegalStateException if the session is closed
     * @throws Error if Redis says that the pool would have less than {@link Integer#MIN_VALUE} permits
     */
    @Override
    public void reducePermits(int reduction) {
        if (reduction < 0) {
            throw new IllegalArgumentException("reduction must be 0 or more, but is " + reduction);
        }
        sync.reduce(reduction);
    }

    /**
     * Changes the number of permits, and the pool by the difference: when the number shrinks, the pool may have less
     * than none. From now on sessions have to state the new number when they obtain this semaphore.
     *
     * @param permits the new number, as in {@link Interlock#semaphore(String, int)}
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out; the number may change
     *     later
     * @throws IllegalStateException if the session is closed
     * @throws UnsupportedOperationException if this is an adapted semaphore, which doesn't know its number of permits
     */
    public void resize(int permits) {
        sync.resize(permits);
    }

    /**
     * Calls the listener when permits are lost that threads of this JVM have; if the loss is foreseeable, before the
     * lease expires. A thread of the session calls it, which does nothing else meanwhile: one listener delays no other.
     * Keep a reference to the semaphore: a semaphore object that is not referenced and has no acquired permits is
     * dropped, together with its listeners.
     *
     * @param listener what to call
     * @return removes the listener when run
     */
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return sync.onLost(requireNonNull(listener, "listener"));
    }

    /**
     * Asks Redis how many permits the pool has. A round trip; meant for monitoring. Permits on their way to another JVM
     * don't count.
     *
     * @return the number, which may be negative after a reduction
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public int availablePermits() {
        return sync.available();
    }

    /** Returns whether this semaphore was obtained as a {@linkplain SemaphoreOptions#fair fair} one. */
    @Override
    public boolean isFair() {
        return options.isFair();
    }

    /** Returns the threads of <em>this</em> JVM that may be waiting for permits. */
    @Override
    protected Collection<Thread> getQueuedThreads() {
        return super.getQueuedThreads();
    }

    /** Returns the name, and the permits in the pool as Redis last reported them. No round trip. */
    @Override
    public String toString() {
        return DropIn.describe(getClass(), this, getName()) + "[" + sync.remote() + "]";
    }

    @Serial
    private void writeObject(ObjectOutputStream out) throws NotSerializableException {
        throw DropIn.notSerializable(DistributedSemaphore.class, "semaphore");
    }

    @Serial
    private void readObject(ObjectInputStream in) throws NotSerializableException {
        throw DropIn.notSerializable(DistributedSemaphore.class, "semaphore");
    }

    /** The local half: the superclass. */
    private final class Local implements LocalSemaphore {
        @Override
        public void acquire(int permits) throws InterruptedException {
            DistributedSemaphore.super.acquire(permits);
        }

        @Override
        public void acquireUninterruptibly(int permits) {
            DistributedSemaphore.super.acquireUninterruptibly(permits);
        }

        @Override
        public boolean tryAcquire(int permits, long waitNanos) throws InterruptedException {
            return DistributedSemaphore.super.tryAcquire(permits, waitNanos, NANOSECONDS);
        }

        @Override
        public boolean tryAcquire(int permits) {
            return DistributedSemaphore.super.tryAcquire(permits);
        }

        @Override
        public void release(int permits) {
            DistributedSemaphore.super.release(permits);
        }

        @Override
        public int availablePermits() {
            return DistributedSemaphore.super.availablePermits();
        }

        @Override
        public int drainPermits() {
            return DistributedSemaphore.super.drainPermits();
        }

        @Override
        public List<Thread> queuedThreads() {
            // The superclass begins with the latest arrival.
            return Lists.reverse(new ArrayList<>(DistributedSemaphore.super.getQueuedThreads()));
        }
    }
}
