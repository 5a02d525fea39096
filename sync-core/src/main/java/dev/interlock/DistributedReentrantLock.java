package dev.interlock;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.google.common.collect.Lists;
import dev.interlock.internal.DropIn;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.LockSync;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.SpareLock;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serial;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ReentrantLock} across JVMs: of all threads of all JVMs that use the same Redis, at most one holds it.
 *
 * <p>It <em>is</em> a {@code ReentrantLock}: the threads of this JVM queue, park, time out and get interrupted in the
 * superclass, so hold counts and queue inspection are right and cost no round trip. Redis only decides which JVM has
 * the lock. The threads of that JVM hand it to each other at the speed of the superclass. Once another JVM waits, they
 * give it up at the first {@code unlock()} after the session's hand-off slice. A {@linkplain Interlock#fairLock fair}
 * lock serves the threads of all JVMs in order of arrival instead. A lock with {@linkplain LockOptions#retain
 * retention} stays with its session after {@code unlock()}, for the retention time, unless another session asks for it.
 *
 * <pre>{@code
 * DistributedReentrantLock lock = interlock.lock("stock:4711");
 * lock.lock();
 * try {
 *     store.write(item, lock.fencingToken());   // a store that refuses older tokens is safe even from a paused JVM
 * } finally {
 *     lock.unlock();
 * }
 * }</pre>
 *
 * <p><b>How it differs from its superclass.</b> Ownership is a lease that the session renews. If it can't keep the
 * lease (the JVM was paused for too long, Redis lost its data) the lock is <em>lost</em>: listeners are told,
 * {@link #fencingToken} and {@link #assertHeld} throw {@link LeaseLostException}, and so does the last {@link #unlock},
 * which frees the local half nevertheless. {@link #isHeldByCurrentThread} and {@link #getHoldCount} still tell the
 * local state, so that a guarded unlock runs. When Redis doesn't answer, acquiring methods throw
 * {@link RedisUnavailableException}. A thread that waits for <em>another JVM</em> is no longer in the superclass's
 * queue: {@link #hasQueuedThread} and {@link #getQueueLength} leave it out. Serialization is refused; obtain the lock
 * by its name instead.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, actions before an {@code unlock()} happen-before those after a subsequent
 * acquisition, as for any {@link java.util.concurrent.locks.Lock}. JVMs share no memory: for the stores that they
 * share, this lock gives the order of acquisitions.
 */
public final class DistributedReentrantLock extends ReentrantLock {
    @Serial
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // serialization is refused
    private final LockOptions options;

    @SuppressWarnings("serial") // serialization is refused
    private final Halves<LocalLock> local;

    @SuppressWarnings("serial") // serialization is refused
    private final LockSync sync;

    DistributedReentrantLock(LockOptions options, Function<Halves<LocalLock>, RemoteLock> remote) {
        super(options.isFair());
        this.options = options;
        this.local =
                new Halves<>(new Local(), options.isFair(), () -> new SpareLock(options.isFair()), System::nanoTime);
        this.sync = new LockSync(local, remote.apply(local));
    }

    LockOptions options() {
        return options;
    }

    /** Returns the name of this lock, without the session's namespace. */
    public String getName() {
        return sync.remote().name();
    }

    /**
     * Acquires the lock and waits without a limit of time. An interrupt does not end the wait; the thread's interrupt
     * flag is set on return.
     *
     * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}
     * @throws IllegalStateException if the session is closed
     * @throws Error if the maximum hold count is exceeded
     */
    @Override
    public void lock() {
        sync.lock();
    }

    /**
     * Acquires the lock for at most {@code lease}, like {@code RLock.lock(lease, unit)}: the lease isn't renewed, and
     * the lock is lost when it expires. Re-entry leaves the lease of the outermost hold unchanged.
     *
     * @param lease 100 ms to 365 days
     * @param unit the unit of {@code lease}
     * @throws IllegalArgumentException if the lease is out of its range
     * @throws RedisUnavailableException as {@link #lock()}
     */
    public void lock(long lease, TimeUnit unit) {
        sync.lock(lease, unit);
    }

    /**
     * Acquires the lock unless interrupted.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; it holds nothing then
     * @throws RedisUnavailableException as {@link #lock()}
     */
    @Override
    public void lockInterruptibly() throws InterruptedException {
        sync.lockInterruptibly();
    }

    /**
     * Acquires the lock if no thread of any JVM holds it now. Barges past queued threads of this JVM, as in the JDK,
     * but not past other JVMs that wait. Fails on a fair lock also while threads of this JVM wait for another JVM.
     * Needs a round trip unless this session owns the name. If another session owns it, that one is asked: it gives a
     * name up that no thread of it is inside of. One that doesn't answer within 250 ms is taken to be inside.
     *
     * @return whether it was acquired
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    @Override
    public boolean tryLock() {
        return sync.tryLock();
    }

    /**
     * Acquires the lock if it becomes available within the wait. A wait of zero or less asks once, and waits for the
     * answer like {@link #tryLock()}.
     *
     * @param wait the longest wait
     * @param unit its unit
     * @return whether it was acquired
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; it holds nothing then
     * @throws RedisUnavailableException if Redis has not answered within the wait
     */
    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        return sync.tryLock(wait, unit);
    }

    /**
     * As {@link #tryLock(long, TimeUnit)}.
     *
     * @param wait the longest wait; more than 292 years are as many
     * @return whether it was acquired
     * @throws InterruptedException as {@link #tryLock(long, TimeUnit)}
     * @throws RedisUnavailableException as {@link #tryLock(long, TimeUnit)}
     */
    public boolean tryLock(Duration wait) throws InterruptedException {
        return sync.tryLock(NANOSECONDS.convert(requireNonNull(wait, "wait")), NANOSECONDS);
    }

    /**
     * Acquires the lock for at most {@code lease} if it becomes available within the wait, like
     * {@code RLock.tryLock(wait, lease, unit)}; see {@link #lock(long, TimeUnit)} for the lease.
     *
     * @param wait the longest wait
     * @param lease 100 ms to 365 days
     * @param unit the unit of both
     * @return whether it was acquired
     * @throws InterruptedException if the thread is interrupted on entry or while it waits; it holds nothing then
     * @throws IllegalArgumentException if the lease is out of its range
     * @throws RedisUnavailableException if Redis has not answered within the wait
     */
    public boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
        return sync.tryLock(wait, lease, unit);
    }

    /**
     * Releases one hold. With the last one, keeps the name for the next thread of this JVM or gives it up in Redis.
     * Doesn't wait for the confirmation unless {@linkplain InterlockBuilder#confirmedUnlock told to}, and doesn't fail
     * if Redis is silent: the session repeats the release in the background.
     *
     * @throws IllegalMonitorStateException if the current thread doesn't hold the lock
     * @throws LeaseLostException if this was the last hold and the lock had been lost; the thread doesn't hold it any
     *     longer
     */
    @Override
    public void unlock() {
        sync.unlock();
    }

    /**
     * Returns the fencing token of the current acquisition. Every acquisition of this name, by any thread of any JVM,
     * has a larger token than all before it; re-entry doesn't change it.
     *
     * @return the token, positive
     * @throws IllegalMonitorStateException if the current thread doesn't hold the lock
     * @throws LeaseLostException if the lock has been lost
     * @throws RedisUnavailableException if that is in doubt (see {@link #assertHeld}) and Redis doesn't answer
     * @throws UnsupportedOperationException if the lock is an adapted one whose protocol has no tokens
     */
    public long fencingToken() {
        return sync.fencingToken();
    }

    /**
     * Returns normally if the current thread holds the lock and, as far as this JVM can know, still owns it in Redis.
     * No round trip, except when the wall clock of the machine has run ahead of its monotonic clock since the lease was
     * last renewed, as after the machine was suspended. Then that is in doubt, and Redis is asked.
     *
     * @throws IllegalMonitorStateException if the current thread doesn't hold the lock
     * @throws LeaseLostException if the lock has been lost
     * @throws RedisUnavailableException if that is in doubt, and Redis doesn't answer within one command time-out; the
     *     thread goes on holding the lock
     */
    public void assertHeld() {
        sync.assertHeld();
    }

    /**
     * Calls the listener whenever this lock is lost while a thread of this JVM holds it; if the loss is foreseeable,
     * before the lease expires. A thread of the session calls it, which does nothing else meanwhile: one listener
     * delays no other. Keep a reference to the lock: a lock object that is neither referenced nor held is dropped,
     * together with its listeners.
     *
     * @param listener what to call
     * @return removes the listener when run
     */
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return sync.remote().onLost(requireNonNull(listener, "listener"));
    }

    /**
     * Asks Redis whether any session, this one included, holds this name: a thread of it, or the session itself, which
     * keeps the name for its next thread. A round trip; meant for monitoring.
     *
     * @return whether a session holds it
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public boolean isRemotelyLocked() {
        return sync.remote().isLocked();
    }

    /**
     * Returns a condition of this lock, on which threads of all JVMs wait and threads of any JVM signal. The first
     * condition made from a lock object is the same as the first one made from that lock in another JVM, the second one
     * as the second, and so on. So a class that makes its conditions in its constructor agrees with its peers, if each
     * JVM has one object of it. Where several objects share a lock, {@linkplain #newCondition(String) name} their
     * conditions.
     *
     * <p>The contract of {@link Condition} holds across JVMs: a signal wakes the thread that has waited longest, in any
     * JVM, and isn't lost if that thread is interrupted or runs out of time. {@code await} returns without a signal
     * (which {@code Condition} allows, and callers test for in a loop) if a JVM that may have signalled has died, or if
     * Redis has lost its data. A JVM that is stopped for as long as its lease stops waiting until it runs again.
     *
     * <p>An {@code await} that returns, whether normally or with an exception, has restored all holds. It throws
     * {@link LeaseLostException} if it finds the lock lost: before it gives anything up, or when it tells Redis to. If
     * it can't get the lock back it throws {@link RedisUnavailableException} if Redis is silent for the session's
     * {@code redisTimeout}, or {@link IllegalStateException} if the session is closed; then the thread holds the lock
     * in this JVM only, as a lost one, until it unlocks.
     *
     * @throws UnsupportedOperationException if the lock is an adapted one, whose protocol knows no conditions, or one
     *     of a {@linkplain QuorumInterlock quorum}, whose nodes could disagree about who was signalled
     */
    @Override
    public Condition newCondition() {
        return sync.newCondition();
    }

    /**
     * Returns the condition of this lock with a name: all objects made with the same name, in any JVM, are the same
     * condition.
     *
     * @param conditionName 1 to 1,024 bytes in UTF-8
     * @throws IllegalArgumentException if the name is empty
     * @throws UnsupportedOperationException as {@link #newCondition()}
     * @see #newCondition()
     */
    public Condition newCondition(String conditionName) {
        return sync.newCondition(conditionName);
    }

    /** Returns the holds of the current thread. No round trip; the local state even if the lock has been lost. */
    @Override
    public int getHoldCount() {
        return local.holds();
    }

    /** Returns whether the current thread holds this. No round trip; the local state even if the lock has been lost. */
    @Override
    public boolean isHeldByCurrentThread() {
        return local.holds() > 0;
    }

    /**
     * Returns whether a thread of <em>this</em> JVM holds the lock; a thread that waits for another JVM doesn't. See
     * {@link #isRemotelyLocked()} for all JVMs.
     */
    @Override
    public boolean isLocked() {
        return local.isHeld() && !sync.remote().isWaiting();
    }

    /** Returns the thread of this JVM that holds the lock, or null; a thread that waits for another JVM doesn't. */
    @Override
    protected @Nullable Thread getOwner() {
        return sync.remote().isWaiting() ? null : local.owner();
    }

    /** Returns the threads of this JVM that may be waiting for another thread of this JVM. */
    @Override
    protected Collection<Thread> getQueuedThreads() {
        return Lists.reverse(local.queued());
    }

    /**
     * Returns whether threads of any JVM wait for a condition of this lock. A round trip, unless only threads of this
     * JVM can wait.
     *
     * @throws IllegalMonitorStateException if the current thread doesn't hold the lock
     * @throws LeaseLostException if the lock has been lost
     * @throws IllegalArgumentException if the condition doesn't belong to this lock object
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    @Override
    public boolean hasWaiters(Condition condition) {
        return getWaitQueueLength(condition) > 0;
    }

    /**
     * Returns an estimate of how many threads of all JVMs wait for a condition of this lock. The threads of a JVM that
     * has died count for some seconds.
     *
     * @throws IllegalMonitorStateException as {@link #hasWaiters}
     * @throws LeaseLostException as {@link #hasWaiters}
     * @throws IllegalArgumentException as {@link #hasWaiters}
     * @throws RedisUnavailableException as {@link #hasWaiters}
     */
    @Override
    public int getWaitQueueLength(Condition condition) {
        return sync.waiters(condition);
    }

    /**
     * Returns the threads of <em>this</em> JVM among those that {@link #getWaitQueueLength} counts.
     *
     * @throws IllegalMonitorStateException as {@link #hasWaiters}
     * @throws LeaseLostException as {@link #hasWaiters}
     * @throws IllegalArgumentException as {@link #hasWaiters}
     * @throws RedisUnavailableException as {@link #hasWaiters}
     */
    @Override
    protected Collection<Thread> getWaitingThreads(Condition condition) {
        return sync.waitingThreads(condition);
    }

    /** Returns the name, the owning thread of this JVM and the tenure of the session. */
    @Override
    public String toString() {
        return DropIn.describe(getClass(), this, getName()) + DropIn.describe(getOwner()) + "[" + sync.remote() + "]";
    }

    @Serial
    private void writeObject(ObjectOutputStream out) throws NotSerializableException {
        throw DropIn.notSerializable(DistributedReentrantLock.class, "lock");
    }

    @Serial
    private void readObject(ObjectInputStream in) throws NotSerializableException {
        throw DropIn.notSerializable(DistributedReentrantLock.class, "lock");
    }

    /** The local half: the superclass. */
    private final class Local implements LocalLock {
        @Override
        public boolean tryLock() {
            return DistributedReentrantLock.super.tryLock();
        }

        @Override
        public boolean tryLock(long waitNanos) throws InterruptedException {
            return DistributedReentrantLock.super.tryLock(waitNanos, NANOSECONDS);
        }

        @Override
        public void unlock() {
            DistributedReentrantLock.super.unlock();
        }

        @Override
        public int holds() {
            return DistributedReentrantLock.super.getHoldCount();
        }

        @Override
        public boolean isHeld() {
            return DistributedReentrantLock.super.isLocked();
        }

        @Override
        public boolean isWanted() {
            return hasQueuedThreads();
        }

        @Override
        public boolean isQueued(Thread thread) {
            return hasQueuedThread(thread);
        }

        @Override
        public @Nullable Thread owner() {
            return DistributedReentrantLock.super.getOwner();
        }

        @Override
        public List<Thread> queued() {
            return DropIn.firstToLast(DistributedReentrantLock.super.getQueuedThreads());
        }

        @Override
        public boolean isAnnounced() {
            return DistributedReentrantLock.super.isFair();
        }
    }
}
