package dev.interlock;

import static java.util.Objects.requireNonNull;

import com.google.common.collect.Lists;
import dev.interlock.internal.DropIn;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.semaphore.LocalSemaphore;
import dev.interlock.internal.semaphore.RemoteSemaphore;
import dev.interlock.internal.semaphore.SemaphoreSync;
import dev.interlock.internal.session.Session;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serial;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A {@link Semaphore} whose permits are shared by the threads of all the JVMs that use the same Redis.
 *
 * <p>It <em>is</em> a {@code Semaphore}: the threads of this JVM wait in the superclass's queue, so interruption,
 * timeouts and queue inspection are the JDK's. JVMs that wait stand in a queue in Redis, each at one place, and permits
 * are pushed to the first one as soon as there are as many as it asks for: a request for three isn't overtaken by
 * requests for one. A permit that is released goes to the next thread of the same JVM, without a round trip, unless
 * another JVM waits and this one has had the permit for longer than the session's hand-off slice.
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
 * <p><b>How it differs from its superclass.</b> Permits belong to the session that has acquired them, for a lease that
 * is renewed while it has any: those of a JVM that has died return to the pool when its lease is over. They are
 * <em>lost</em> if the lease can't be kept (the JVM was paused for too long, Redis lost its data): listeners hear of
 * it, and as many of the releases that follow free nothing and throw {@link LeaseLostException}. Releasing more than
 * the session has enlarges the pool as in the JDK. A semaphore with {@linkplain SemaphoreOptions#unowned unowned}
 * permits has the JDK's meaning without that. When Redis doesn't answer, acquiring methods throw
 * {@link RedisUnavailableException}. {@linkplain SemaphoreOptions#fair Fairness} is FIFO among the JVMs that wait and
 * among the threads of each, not among all threads. A request for no permits isn't kept waiting by a pool that has less
 * than none. Serialization is refused; obtain the semaphore by its name instead.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, actions before a {@code release()} happen-before those after an
 * acquisition that gets the permit without it having left the JVM, or after any acquisition that follows the return of
 * {@code release()} in time. Across JVMs there is no shared memory.
 */
public final class DistributedSemaphore extends Semaphore {
    @Serial
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // serialization is refused
    private final SemaphoreSync sync;

    @SuppressWarnings("serial") // serialization is refused
    private final SemaphoreOptions options;

    private volatile boolean joined;

    // Who comes from the superclass's queue has to be served before whom we don't want to barge.
    DistributedSemaphore(
            Session session, SemaphoreOptions options, Function<RemoteSemaphore.Recipient, RemoteSemaphore> remote) {
        super(0, true);
        this.options = options;
        this.sync = new SemaphoreSync(session, new Local(), options.isFair(), remote);
    }

    SemaphoreOptions options() {
        return options;
    }

    /** Returns whether Redis has agreed to what was stated of it. */
    boolean isJoined() {
        return joined;
    }

    /** Makes sure that Redis agrees to the number of permits. */
    void join(int permits) {
        if (!joined) {
            sync.join();
            joined = true;
        } else if (sync.remote().permits() != permits) {
            // It may have been changed from elsewhere.
            sync.available();
        }
        int actual = sync.remote().permits();
        if (actual != permits) {
            throw new IllegalArgumentException("semaphore " + Keys.quoted(getName()) + " was stated to have " + permits
                    + " permits, but has " + actual + "; resize() changes that");
        }
    }

    /** Returns the name of this semaphore, without the session's namespace. */
    public String getName() {
        return sync.name();
    }

    /**
     * Acquires a permit, waiting for as long as that takes.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; it has acquired nothing
     *     then
     * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public void acquire() throws InterruptedException {
        sync.acquire(1);
    }

    /**
     * Acquires a permit, waiting for as long as that takes. An interrupt doesn't end the wait; the thread's interrupt
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
     * Acquires a permit if there is one now, whoever waits for one in whatever JVM. A round trip, unless this JVM has
     * one to spare.
     *
     * @return whether it was acquired
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out; nothing is acquired then
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public boolean tryAcquire() {
        return sync.tryAcquire(1);
    }

    /**
     * Acquires a permit if that becomes possible within the wait. A wait of zero or less asks once, as
     * {@link #tryAcquire()} does.
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
     * Releases a permit: to the next thread of this JVM, or to the pool. Waits for the confirmation at most one command
     * time-out, and doesn't fail if Redis is silent: the release is repeated in the background.
     *
     * @throws LeaseLostException if a permit of this session had been lost; this was it, and nothing is released
     * @throws IllegalStateException if the session is closed
     * @throws Error if there would be more than {@link Integer#MAX_VALUE} permits
     */
    @Override
    public void release() {
        sync.release(1);
    }

    /**
     * Acquires so many permits at once, waiting for as long as that takes. None are set aside meanwhile.
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
     * Acquires so many permits at once, waiting for as long as that takes, as {@link #acquireUninterruptibly()} does.
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
     * Acquires so many permits if there are as many now, as {@link #tryAcquire()} does.
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
     * Acquires so many permits at once if that becomes possible within the wait, as {@link #tryAcquire(long, TimeUnit)}
     * does.
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
     * Releases so many permits, as {@link #release()} does. Those that were lost come first.
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
     * Asks Redis how many permits there are that nobody has: a round trip, and only good for monitoring. Those that are
     * on their way to another JVM don't count.
     *
     * @return how many, negative after a reduction
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public int availablePermits() {
        return sync.available();
    }

    /**
     * Acquires all permits that there are now, whoever waits for them; if there are less than none, makes it none.
     *
     * @return how many were acquired, or by how many there were less than none, as a negative number
     * @throws RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException as {@link #tryAcquire()}
     */
    @Override
    public int drainPermits() {
        return sync.drain();
    }

    /**
     * Takes so many permits out of the pool for good, without waiting for them: there may be less than none afterwards.
     * Confirmed as {@link #release()} is. What was stated as the number of permits remains so, in contrast to
     * {@link #resize}.
     *
     * @param reduction 0 or more
     * @throws IllegalArgumentException if {@code reduction} is negative
     * @throws IllegalStateException if the session is closed
     * @throws Error if there would be less than {@link Integer#MIN_VALUE} permits
     */
    @Override
    public void reducePermits(int reduction) {
        if (reduction < 0) {
            throw new IllegalArgumentException("reduction must be 0 or more, but is " + reduction);
        }
        sync.reduce(reduction);
    }

    /**
     * Changes how many permits there are, and so those in the pool by the difference: there may be less than none if it
     * shrinks. From now on that is the number to be stated when this semaphore is obtained.
     *
     * @param permits how many there are to be in all, as in {@link Interlock#semaphore(String, int)}
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out; it may be changed yet
     * @throws IllegalStateException if the session is closed
     * @throws UnsupportedOperationException if this is an adapted semaphore, which doesn't know how many there are in
     *     all
     */
    public void resize(int permits) {
        sync.resize(permits);
    }

    /**
     * Calls the listener when permits are lost that threads of this JVM have: before the lease is over where that can
     * be foreseen. It is called on a thread of the session that runs listeners only. Keep a reference to the semaphore:
     * an object that nobody refers to and by which nobody has permits is dropped, together with its listeners.
     *
     * @param listener what to call
     * @return removes the listener when run
     */
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return sync.onLost(requireNonNull(listener, "listener"));
    }

    /** Returns whether this was obtained as a {@linkplain SemaphoreOptions#fair fair} semaphore. */
    @Override
    public boolean isFair() {
        return sync.isFair();
    }

    /** Returns the threads of <em>this</em> JVM that may be waiting for permits. */
    @Override
    protected Collection<Thread> getQueuedThreads() {
        return super.getQueuedThreads();
    }

    /** Returns the name, and how many permits there were when Redis was last heard. No round trip. */
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

    /** The superclass. */
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
            return DistributedSemaphore.super.tryAcquire(permits, waitNanos, TimeUnit.NANOSECONDS);
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
            // The superclass begins with the one that has come last.
            return Lists.reverse(new ArrayList<>(DistributedSemaphore.super.getQueuedThreads()));
        }
    }
}
