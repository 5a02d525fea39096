package dev.interlock;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import com.google.common.collect.Lists;
import dev.interlock.internal.DropIn;
import dev.interlock.internal.lock.LocalReadWriteLock;
import dev.interlock.internal.lock.LockSync;
import dev.interlock.internal.lock.ReadSync;
import dev.interlock.internal.lock.ReadWriteHalves;
import dev.interlock.internal.lock.RemoteReadWriteLock;
import dev.interlock.internal.lock.SpareReadWriteLock;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serial;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A {@link ReentrantReadWriteLock} across JVMs: of all threads of all JVMs that use the same Redis, either one holds
 * the write lock, or any number hold the read lock.
 *
 * <p>It <em>is</em> a {@code ReentrantReadWriteLock}: the threads of this JVM queue, park, time out and get interrupted
 * in the superclass. All readers of a JVM share one lease in Redis. The first reader acquires it; when the last one has
 * left, the session keeps it for a moment, so that reading costs no round trip as long as no JVM writes. A waiting
 * writer, in any JVM, stops new readers everywhere; threads that hold the read or the write lock already still pass, as
 * in the superclass. A {@linkplain Interlock#fairReadWriteLock fair} lock goes to waiting JVMs as soon as possible.
 *
 * <pre>{@code
 * DistributedReadWriteLock lock = interlock.readWriteLock("prices");
 * lock.readLock().lock();
 * try {
 *     return prices.get(item);                            // beside the readers of all JVMs
 * } finally {
 *     lock.readLock().unlock();
 * }
 * }</pre>
 *
 * <p>A thread that holds the write lock may take the read lock and then release the write lock: that admits the readers
 * of all JVMs at once, and no writer in between. The reverse isn't possible, as in the superclass: if the thread reads,
 * {@code tryLock()} for writing fails, and {@code lock()} would wait for the thread itself.
 *
 * <p><b>How it differs from its superclass.</b> Ownership is a lease that the session renews. If it can't keep the
 * lease the lock is <em>lost</em>: listeners are told, {@code assertHeld} and {@link WriteLock#fencingToken} throw
 * {@link LeaseLostException}, and so does the last {@code unlock}, which frees the local half nevertheless. When Redis
 * doesn't answer, acquiring methods throw {@link RedisUnavailableException}. A thread that waits for <em>another
 * JVM</em> is no longer in the superclass's queue. Serialization is refused; obtain the lock by its name instead.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, as for any {@link java.util.concurrent.locks.ReadWriteLock}. JVMs share
 * no memory: for the stores that they share, this lock gives the order of acquisitions.
 */
public final class DistributedReadWriteLock extends ReentrantReadWriteLock {
    @Serial
    private static final long serialVersionUID = 1L;

    @SuppressWarnings("serial") // serialization is refused
    private final ReadWriteHalves local;

    @SuppressWarnings("serial") // serialization is refused
    private final RemoteReadWriteLock remote;

    @SuppressWarnings("serial") // serialization is refused
    private final LockSync sync;

    @SuppressWarnings("serial") // serialization is refused
    private final ReadSync readSync;

    private final ReadLock readLock;
    private final WriteLock writeLock;

    DistributedReadWriteLock(boolean fair, Function<? super ReadWriteHalves, ? extends RemoteReadWriteLock> remote) {
        super(fair);
        LocalReadWriteLock home = new Local(super.readLock(), super.writeLock());
        this.local = new ReadWriteHalves(home, fair, () -> new SpareReadWriteLock(fair), System::nanoTime);
        this.remote = remote.apply(local);
        this.sync = new LockSync(local, this.remote);
        this.readSync = new ReadSync(local, this.remote);
        this.readLock = new ReadLock(this);
        this.writeLock = new WriteLock(this);
    }

    /** Returns the lock for reading, which any number of threads of any JVM may hold while no thread writes. */
    @Override
    public ReadLock readLock() {
        return readLock;
    }

    /** Returns the lock for writing, which one thread of one JVM may hold. */
    @Override
    public WriteLock writeLock() {
        return writeLock;
    }

    /** Returns the name of this lock, without the session's namespace. */
    public String getName() {
        return remote.name();
    }

    /**
     * Calls the listener whenever this lock is lost while threads of this JVM hold it, for reading or for writing; if
     * the loss is foreseeable, before the lease expires. A thread of the session calls it, which does nothing else
     * meanwhile: one listener delays no other. Keep a reference to the lock: a lock object that is neither referenced
     * nor held is dropped, together with its listeners.
     *
     * @param listener what to call
     * @return removes the listener when run
     */
    public Runnable onLost(Consumer<? super LeaseLostException> listener) {
        return remote.onLost(requireNonNull(listener, "listener"));
    }

    /** The lock for reading. */
    public static final class ReadLock extends ReentrantReadWriteLock.ReadLock {
        @Serial
        private static final long serialVersionUID = 1L;

        private final DistributedReadWriteLock lock;

        private ReadLock(DistributedReadWriteLock lock) {
            super(lock);
            this.lock = lock;
        }

        /**
         * Acquires the read lock and waits without a limit of time. An interrupt does not end the wait; the thread's
         * interrupt flag is set on return.
         *
         * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}
         * @throws IllegalStateException if the session is closed
         */
        @Override
        public void lock() {
            lock.readSync.lock();
        }

        /**
         * Acquires the read lock unless interrupted.
         *
         * @throws InterruptedException if the thread is interrupted on entry or while it waits; it holds nothing then
         * @throws RedisUnavailableException as {@link #lock()}
         */
        @Override
        public void lockInterruptibly() throws InterruptedException {
            lock.readSync.lockInterruptibly();
        }

        /**
         * Acquires the read lock if no thread of any JVM holds the write lock now. Barges past queued threads of this
         * JVM, as in the JDK, but not past other JVMs that wait to write. Needs a round trip unless this session owns
         * the name.
         *
         * @return whether it was acquired
         * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
         */
        @Override
        public boolean tryLock() {
            return lock.readSync.tryLock();
        }

        /**
         * Acquires the read lock if it becomes available within the wait. A wait of zero or less asks once, like
         * {@link #tryLock()}.
         *
         * @param wait the longest wait
         * @param unit its unit
         * @return whether it was acquired
         * @throws InterruptedException if the thread is interrupted on entry or while it waits; it holds nothing then
         * @throws RedisUnavailableException if Redis has not answered within the wait
         */
        @Override
        public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
            return lock.readSync.tryLock(wait, unit);
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
            return lock.readSync.tryLock(NANOSECONDS.convert(requireNonNull(wait, "wait")), NANOSECONDS);
        }

        /**
         * Releases one hold. When no thread of this JVM reads any longer, other JVMs can write: at once if one waits,
         * otherwise within the session's hand-off slice.
         *
         * @throws IllegalMonitorStateException if the current thread doesn't hold the read lock
         * @throws LeaseLostException if this was the thread's last hold and the lock had been lost; the thread doesn't
         *     hold it any longer
         */
        @Override
        public void unlock() {
            lock.readSync.unlock();
        }

        /**
         * Returns normally if the current thread holds the read lock or the write lock and, as far as this JVM can
         * know, still owns it in Redis. No round trip, unless that is in doubt, as
         * {@link DistributedReentrantLock#assertHeld} says.
         *
         * @throws IllegalMonitorStateException if the current thread holds neither
         * @throws LeaseLostException if the lock has been lost
         * @throws RedisUnavailableException if that is in doubt and Redis doesn't answer
         */
        public void assertHeld() {
            lock.readSync.assertHeld();
        }

        /**
         * Read locks have no conditions, as in the JDK.
         *
         * @throws UnsupportedOperationException always
         */
        @Override
        public Condition newCondition() {
            return lock.readSync.newCondition();
        }

        /** Returns the name and the number of read locks held in this JVM. */
        @Override
        public String toString() {
            return DropIn.describe(getClass(), lock, lock.getName()) + "[Read locks = " + lock.getReadLockCount() + "]";
        }

        // Writing is refused by the lock that this refers to.
        @Serial
        private void readObject(ObjectInputStream in) throws NotSerializableException {
            throw DropIn.notSerializable(DistributedReadWriteLock.class, "lock");
        }
    }

    /** The lock for writing. */
    public static final class WriteLock extends ReentrantReadWriteLock.WriteLock {
        @Serial
        private static final long serialVersionUID = 1L;

        private final DistributedReadWriteLock lock;

        private WriteLock(DistributedReadWriteLock lock) {
            super(lock);
            this.lock = lock;
        }

        /**
         * Acquires the write lock and waits without a limit of time. An interrupt does not end the wait; the thread's
         * interrupt flag is set on return.
         *
         * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}
         * @throws IllegalStateException if the session is closed
         */
        @Override
        public void lock() {
            lock.sync.lock();
        }

        /**
         * Acquires the write lock unless interrupted.
         *
         * @throws InterruptedException if the thread is interrupted on entry or while it waits; it holds nothing then
         * @throws RedisUnavailableException as {@link #lock()}
         */
        @Override
        public void lockInterruptibly() throws InterruptedException {
            lock.sync.lockInterruptibly();
        }

        /**
         * Acquires the write lock if no thread of any JVM holds either lock now. Barges past queued threads of this
         * JVM, as in the JDK, but not past other JVMs that wait. Needs a round trip unless this session owns the name
         * to write. Fails if the readers of another JVM left only a moment ago, but makes that JVM give the name up.
         *
         * @return whether it was acquired
         * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
         */
        @Override
        public boolean tryLock() {
            return lock.sync.tryLock();
        }

        /**
         * Acquires the write lock if it becomes available within the wait. A wait of zero or less asks once, like
         * {@link #tryLock()}.
         *
         * @param wait the longest wait
         * @param unit its unit
         * @return whether it was acquired
         * @throws InterruptedException if the thread is interrupted on entry or while it waits; it holds nothing then
         * @throws RedisUnavailableException if Redis has not answered within the wait
         */
        @Override
        public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
            return lock.sync.tryLock(wait, unit);
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
            return lock.sync.tryLock(NANOSECONDS.convert(requireNonNull(wait, "wait")), NANOSECONDS);
        }

        /**
         * Releases one hold. With the last one, keeps the name for the next thread of this JVM or gives it up in Redis.
         * If the thread also holds the read lock, other JVMs can read from now on; this waits for the confirmation at
         * most one command time-out. Otherwise the write lock is released as {@link DistributedReentrantLock#unlock}
         * does.
         *
         * @throws IllegalMonitorStateException if the current thread doesn't hold the write lock
         * @throws LeaseLostException if this was the last hold and the lock had been lost; the thread doesn't hold it
         *     any longer
         */
        @Override
        public void unlock() {
            lock.sync.unlock();
        }

        /**
         * Returns the fencing token of the current acquisition. Every acquisition of this write lock, by any thread of
         * any JVM, has a larger token than all before it; re-entry doesn't change it.
         *
         * @return the token, positive
         * @throws IllegalMonitorStateException if the current thread doesn't hold the write lock
         * @throws LeaseLostException if the lock has been lost
         * @throws RedisUnavailableException if that is in doubt (see {@link #assertHeld}) and Redis doesn't answer
         * @throws UnsupportedOperationException if the lock is an adapted one, whose protocol has no tokens
         */
        public long fencingToken() {
            return lock.sync.fencingToken();
        }

        /**
         * Returns normally if the current thread holds the write lock and, as far as this JVM can know, still owns it
         * in Redis. No round trip, unless that is in doubt, as {@link DistributedReentrantLock#assertHeld} says.
         *
         * @throws IllegalMonitorStateException if the current thread doesn't hold the write lock
         * @throws LeaseLostException if the lock has been lost
         * @throws RedisUnavailableException if that is in doubt and Redis doesn't answer
         */
        public void assertHeld() {
            lock.sync.assertHeld();
        }

        /**
         * Returns a condition of this write lock, like {@link DistributedReentrantLock#newCondition()}. A thread that
         * also holds the read lock gives up both while it waits, and gets both back.
         *
         * @throws UnsupportedOperationException if the lock is an adapted one: its protocol knows no conditions
         */
        @Override
        public Condition newCondition() {
            return lock.sync.newCondition();
        }

        /**
         * Returns the condition of this write lock with a name: all objects made with the same name, in any JVM, are
         * the same condition.
         *
         * @param conditionName 1 to 1,024 bytes in UTF-8
         * @throws IllegalArgumentException if the name is empty
         * @throws UnsupportedOperationException as {@link #newCondition()}
         */
        public Condition newCondition(String conditionName) {
            return lock.sync.newCondition(conditionName);
        }

        /**
         * Returns whether the current thread holds this. No round trip; the local state even if the lock has been lost.
         */
        @Override
        public boolean isHeldByCurrentThread() {
            return lock.isWriteLockedByCurrentThread();
        }

        /** Returns the holds of the current thread. No round trip; the local state even if the lock has been lost. */
        @Override
        public int getHoldCount() {
            return lock.getWriteHoldCount();
        }

        /** Returns the name and the thread of this JVM that holds the write lock. */
        @Override
        public String toString() {
            return DropIn.describe(getClass(), lock, lock.getName()) + DropIn.describe(lock.getOwner());
        }

        // Writing is refused by the lock that this refers to.
        @Serial
        private void readObject(ObjectInputStream in) throws NotSerializableException {
            throw DropIn.notSerializable(DistributedReadWriteLock.class, "lock");
        }
    }

    /**
     * Returns the thread of this JVM that holds the write lock, or null; a thread that waits for another JVM doesn't
     * hold it.
     */
    @Override
    protected @Nullable Thread getOwner() {
        return remote.isWaiting() ? null : local.owner();
    }

    /** Returns the read holds of all threads of <em>this</em> JVM; threads that wait for another JVM have none. */
    @Override
    public int getReadLockCount() {
        return remote.isWaiting() && remote.mayAskSharing() ? 0 : local.shares();
    }

    /**
     * Returns whether a thread of <em>this</em> JVM holds the write lock; a thread that waits for another JVM doesn't.
     */
    @Override
    public boolean isWriteLocked() {
        return getOwner() != null;
    }

    /**
     * Returns whether the current thread holds the write lock. No round trip; the local state even if it has been lost.
     */
    @Override
    public boolean isWriteLockedByCurrentThread() {
        return local.holds() > 0;
    }

    /** Returns the write holds of the current thread. No round trip; the local state even if the lock has been lost. */
    @Override
    public int getWriteHoldCount() {
        return local.holds();
    }

    /** Returns the read holds of the current thread. No round trip; the local state even if the lock has been lost. */
    @Override
    public int getReadHoldCount() {
        return local.sharedHolds();
    }

    /** Returns the threads of this JVM that may be waiting to write, for another thread of this JVM. */
    @Override
    protected Collection<Thread> getQueuedWriterThreads() {
        return super.getQueuedWriterThreads().stream()
                .filter(thread -> !readSync.isLeader(thread))
                .toList();
    }

    /** Returns the threads of this JVM that may be waiting to read, for another thread of this JVM. */
    @Override
    protected Collection<Thread> getQueuedReaderThreads() {
        Stream<Thread> leading = super.getQueuedWriterThreads().stream().filter(readSync::isLeader);
        return Stream.concat(leading, super.getQueuedReaderThreads().stream()).toList();
    }

    /** Returns the threads of this JVM that may be waiting for another thread of this JVM. */
    @Override
    protected Collection<Thread> getQueuedThreads() {
        return Lists.reverse(local.queued());
    }

    /**
     * Returns whether threads of any JVM wait for a condition of the write lock. A round trip, unless only threads of
     * this JVM can wait.
     *
     * @throws IllegalMonitorStateException if the current thread doesn't hold the write lock
     * @throws LeaseLostException if the lock has been lost
     * @throws IllegalArgumentException if the condition doesn't belong to this lock object
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    @Override
    public boolean hasWaiters(Condition condition) {
        return getWaitQueueLength(condition) > 0;
    }

    /**
     * Returns an estimate of how many threads of all JVMs wait for a condition of the write lock. The threads of a JVM
     * that has died count for some seconds.
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

    /** Returns the name, the holds in this JVM, and the tenure of the session. */
    @Override
    public String toString() {
        String locks = getOwner() == null
                ? "[Write locks = 0, Read locks = " + getReadLockCount() + "]"
                : local.toString().replaceFirst(".*(?=\\[Write)", "");
        return DropIn.describe(getClass(), this, getName()) + locks + "[" + remote + "]";
    }

    @Serial
    private void writeObject(ObjectOutputStream out) throws NotSerializableException {
        throw DropIn.notSerializable(DistributedReadWriteLock.class, "lock");
    }

    @Serial
    private void readObject(ObjectInputStream in) throws NotSerializableException {
        throw DropIn.notSerializable(DistributedReadWriteLock.class, "lock");
    }

    /** The local half: the superclass. */
    private final class Local implements LocalReadWriteLock {
        private final ReentrantReadWriteLock.ReadLock shared;
        private final ReentrantReadWriteLock.WriteLock whole;

        Local(ReentrantReadWriteLock.ReadLock shared, ReentrantReadWriteLock.WriteLock whole) {
            this.shared = shared;
            this.whole = whole;
        }

        @Override
        public boolean tryLock() {
            return whole.tryLock();
        }

        @Override
        public boolean tryLock(long waitNanos) throws InterruptedException {
            return whole.tryLock(waitNanos, NANOSECONDS);
        }

        @Override
        public void unlock() {
            whole.unlock();
        }

        @Override
        public int holds() {
            return DistributedReadWriteLock.super.getWriteHoldCount();
        }

        @Override
        public boolean isOwned() {
            return DistributedReadWriteLock.super.isWriteLocked();
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
            return DistributedReadWriteLock.super.getOwner();
        }

        @Override
        public List<Thread> queued() {
            return DropIn.firstToLast(DistributedReadWriteLock.super.getQueuedThreads());
        }

        @Override
        public boolean isAnnounced() {
            return true;
        }

        @Override
        public Lock readLock() {
            return shared;
        }

        @Override
        public int sharedHolds() {
            return DistributedReadWriteLock.super.getReadHoldCount();
        }

        @Override
        public int shares() {
            return DistributedReadWriteLock.super.getReadLockCount();
        }

        @Override
        public String toString() {
            return DistributedReadWriteLock.super.toString();
        }
    }
}
