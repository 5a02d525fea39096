package dev.interlock.internal.lock;

import static java.util.Objects.requireNonNull;

import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.lock.RemoteConditions.Wait;
import dev.interlock.internal.redis.Keys;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/**
 * Mutual exclusion of all threads of all JVMs: how a thread takes both halves of a lock, the local one first, and gives
 * them back. Whatever happens, it has both on return, or none.
 */
public final class LockSync implements Lock {
    private static final long FOREVER = Long.MAX_VALUE;

    private final LocalLock local;
    private final RemoteLock remote;
    private final AtomicInteger anonymousConditions = new AtomicInteger();

    /** Joins the two halves. */
    public LockSync(LocalLock local, RemoteLock remote) {
        this.local = local;
        this.remote = remote;
    }

    @Override
    public void lock() {
        long start = remote.beginAttempt();
        lockLocally(RemoteLock.RENEWED);
        if (local.holds() == 1 && !remote.enterAtOnce(start)) {
            enterUninterruptibly(FOREVER, RemoteLock.RENEWED, start);
        }
    }

    /** Locks for at most {@code lease}: 100 ms to 365 days. */
    public void lock(long lease, TimeUnit unit) {
        long leaseMillis = checkedLease(lease, unit);
        long start = remote.beginAttempt();
        lockLocally(leaseMillis);
        if (local.holds() == 1) {
            enterUninterruptibly(FOREVER, leaseMillis, start);
        }
    }

    private void lockLocally(long leaseMillis) {
        boolean locked = false;
        try {
            if (!lockOrAnnounce(leaseMillis)) {
                local.lock();
            }
            locked = true;
        } finally {
            if (!locked) {
                remote.cleanUp();
            }
        }
    }

    // A thread that has to queue may have its place in the queue of all JVMs first.
    private boolean lockOrAnnounce(long leaseMillis) {
        if (!local.isAnnounced() || local.holds() > 0) {
            return false;
        }
        if (!local.isWanted() && local.tryLock()) {
            return true;
        }
        remote.announce(leaseMillis);
        return false;
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        long start = remote.beginAttempt();
        boolean locked = false;
        try {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (!lockOrAnnounce(RemoteLock.RENEWED)) {
                local.lockInterruptibly();
            }
            locked = true;
        } finally {
            if (!locked) {
                remote.cleanUp();
            }
        }
        if (local.holds() == 1 && !remote.enterAtOnce(start)) {
            enter(true, FOREVER, RemoteLock.RENEWED, start);
        }
    }

    @Override
    public boolean tryLock() {
        long start = remote.beginAttempt();
        if (!remote.tryLockLocally()) {
            return false;
        }
        return local.holds() > 1 || remote.enterAtOnce(start) || enterUninterruptibly(0, RemoteLock.RENEWED, start);
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        return tryLockFor(requireNonNull(unit, "unit").toNanos(wait), RemoteLock.RENEWED);
    }

    /** Locks for at most {@code lease}, 100 ms to 365 days, if that becomes possible within the wait. */
    public boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
        long leaseMillis = checkedLease(lease, unit);
        return tryLockFor(unit.toNanos(wait), leaseMillis);
    }

    private boolean tryLockFor(long waitNanos, long leaseMillis) throws InterruptedException {
        long start = remote.now();
        boolean locked = false;
        try {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            locked = (waitNanos > 0 && lockOrAnnounce(leaseMillis)) || local.tryLock(waitNanos);
        } finally {
            if (!locked) {
                remote.cleanUp();
            }
        }
        if (!locked || local.holds() > 1) {
            return locked;
        }
        if (leaseMillis == RemoteLock.RENEWED && remote.enterAtOnce(start)) {
            return true;
        }
        long left = waitNanos <= 0 ? 0 : Math.max(1, waitNanos - (remote.now() - start));
        return enter(true, left, leaseMillis, start);
    }

    @Override
    public void unlock() {
        if (local.holds() != 1) {
            requireHeld();
            local.unlock();
            return;
        }
        RemoteLock.Departure departure;
        try {
            departure = remote.leave();
        } finally {
            local.unlock();
        }
        remote.cleanUp();
        if (departure != null) {
            departure.complete();
        }
    }

    private boolean enterUninterruptibly(long waitNanos, long leaseMillis, long start) {
        try {
            return enter(false, waitNanos, leaseMillis, start);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    // The thread has the local half, once.
    private boolean enter(boolean interruptible, long waitNanos, long leaseMillis, long start)
            throws InterruptedException {
        boolean entered = false;
        try {
            entered = remote.enter(interruptible, waitNanos, leaseMillis, start);
        } finally {
            if (!entered) {
                local.unlock();
                remote.cleanUp();
            }
        }
        return entered;
    }

    private static long checkedLease(long lease, TimeUnit unit) {
        long millis = requireNonNull(unit, "unit").toMillis(lease);
        if (millis < 100 || millis > TimeUnit.DAYS.toMillis(365)) {
            throw new IllegalArgumentException("lease must be from 100 ms to 365 days, but is " + lease + " " + unit);
        }
        return millis;
    }

    /** Throws {@link IllegalMonitorStateException} unless the current thread has the local half. */
    public void requireHeld() {
        if (local.holds() == 0) {
            throw notHeld(remote);
        }
    }

    static IllegalMonitorStateException notHeld(RemoteLock lock) {
        return new IllegalMonitorStateException(
                "lock " + Names.quoted(lock.name()) + " isn't held by the current thread");
    }

    /** Returns the token of the current acquisition. */
    public long fencingToken() {
        requireHeld();
        return remote.fencingToken();
    }

    /** Throws {@link LeaseLostException} unless what the current thread holds is still valid. */
    public void assertHeld() {
        requireHeld();
        remote.assertValid();
    }

    // ---- conditions

    /** Returns the next condition without a name: the k-th one is the same in all JVMs. */
    @Override
    public Condition newCondition() {
        return new DistributedCondition(this, remote.conditions(), "#" + anonymousConditions.getAndIncrement());
    }

    /** Returns the condition of that name, which isn't empty. */
    public Condition newCondition(String conditionName) {
        Keys.checkName("conditionName", conditionName);
        String key = URLEncoder.encode(conditionName, StandardCharsets.UTF_8);
        return new DistributedCondition(this, remote.conditions(), key);
    }

    /**
     * Returns how many threads of all JVMs wait for a condition.
     *
     * @throws RedisUnavailableException if Redis doesn't answer
     */
    public int waiters(Condition condition) {
        DistributedCondition own = ownedCondition(condition);
        requireHeld();
        return own.waiters();
    }

    /** Returns the threads of this JVM that wait for a condition. */
    public Collection<Thread> waitingThreads(Condition condition) {
        DistributedCondition own = ownedCondition(condition);
        requireHeld();
        return own.threads();
    }

    private DistributedCondition ownedCondition(Condition condition) {
        if (requireNonNull(condition, "condition") instanceof DistributedCondition own && own.belongsTo(this)) {
            return own;
        }
        throw new IllegalArgumentException("the condition doesn't belong to lock " + Names.quoted(remote.name()));
    }

    /** What a thread has given up to wait for a condition. */
    record Holds(int exclusive, int shared) {}

    /** Has the current thread give up all that it has to wait. */
    Holds giveUp(Wait wait) {
        Holds holds = new Holds(local.holds(), local.giveUpShares());
        for (int i = 1; i < holds.exclusive; i++) {
            local.unlock();
        }
        try {
            remote.conditions().leave(wait);
        } finally {
            local.unlock();
        }
        remote.conditions().left();
        return holds;
    }

    /** Gets the current thread again what it has given up, even if it can't have the remote half. */
    void takeBack(Holds holds, Wait wait) {
        remote.conditions().lineUp(wait);
        local.lock();
        try {
            remote.conditions().enter(wait);
        } finally {
            for (int i = 1; i < holds.exclusive; i++) {
                local.lock();
            }
            local.takeShares(holds.shared);
        }
    }

    /** Returns the ticker's reading, in nanoseconds. */
    long now() {
        return remote.now();
    }

    /** Returns the name of the lock. */
    String name() {
        return remote.name();
    }
}
