package dev.interlock.internal.lock;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.events.LockHold;
import dev.interlock.internal.lock.LockRecorder.Attempt;
import dev.interlock.internal.lock.RemoteConditions.Wait;
import dev.interlock.internal.redis.Keys;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * Mutual exclusion of all threads of all JVMs: how a thread takes both halves of a lock, the local one first, and gives
 * them back. Whatever happens, it has both on return, or none.
 */
public final class LockSync implements Lock {
    private static final long FOREVER = Long.MAX_VALUE;

    private final Halves<?> local;
    private final RemoteLock remote;

    @GuardedBy("this")
    private int anonymousConditions;

    /** The recorded holds: that of a thread that has lost the lock goes on beside the next one. Made for the first. */
    private volatile @Nullable Map<Thread, LockHold> recorded;

    /** Joins the two halves. */
    public LockSync(Halves<?> local, RemoteLock remote) {
        this.local = local;
        this.remote = remote;
    }

    /** Returns the remote half. */
    public RemoteLock remote() {
        return remote;
    }

    // ---- acquisition

    /**
     * How a thread takes the lock.
     *
     * @param interruptible whether an interrupt ends the attempt, or is kept for later
     * @param barges whether it only tries to take the local half, ahead of the threads that queue for it
     * @param waitNanos how long it may wait; 0 or less not to wait, {@link #FOREVER} for no limit
     * @param leaseMillis {@link RemoteLock#RENEWED} or the length of a fixed lease
     */
    private record Mode(boolean interruptible, boolean barges, long waitNanos, long leaseMillis) {
        static final Mode LOCK = lock(RemoteLock.RENEWED);
        static final Mode INTERRUPTIBLE = new Mode(true, false, FOREVER, RemoteLock.RENEWED);
        static final Mode TRY = new Mode(false, true, 0, RemoteLock.RENEWED);

        static Mode lock(long leaseMillis) {
            return new Mode(false, false, FOREVER, leaseMillis);
        }

        static Mode timed(long wait, TimeUnit unit, long leaseMillis) {
            return new Mode(true, false, Math.min(unit.toNanos(wait), FOREVER - 1), leaseMillis);
        }

        boolean isTimed() {
            return waitNanos != FOREVER;
        }

        boolean waits() {
            return waitNanos > 0;
        }
    }

    @Override
    public void lock() {
        acquireUninterruptibly(Mode.LOCK);
    }

    /** Locks for at most {@code lease}: 100 ms to 365 days. */
    public void lock(long lease, TimeUnit unit) {
        acquireUninterruptibly(Mode.lock(checkedLease(lease, unit)));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        acquire(Mode.INTERRUPTIBLE);
    }

    @Override
    public boolean tryLock() {
        return acquireUninterruptibly(Mode.TRY);
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        return acquire(Mode.timed(wait, requireNonNull(unit, "unit"), RemoteLock.RENEWED));
    }

    /** Locks for at most {@code lease}, 100 ms to 365 days, if that becomes possible within the wait. */
    public boolean tryLock(long wait, long lease, TimeUnit unit) throws InterruptedException {
        long leaseMillis = checkedLease(lease, unit);
        return acquire(Mode.timed(wait, unit, leaseMillis));
    }

    private static long checkedLease(long lease, TimeUnit unit) {
        long millis = requireNonNull(unit, "unit").toMillis(lease);
        if (millis < 100 || millis > TimeUnit.DAYS.toMillis(365)) {
            throw new IllegalArgumentException("lease must be from 100 ms to 365 days, but is " + lease + " " + unit);
        }
        return millis;
    }

    private boolean acquireUninterruptibly(Mode mode) {
        try {
            return acquire(mode);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    // Re-entries aren't recorded.
    private boolean acquire(Mode mode) throws InterruptedException {
        if (!LockRecorder.isOn(remote) || local.holds() > 0) {
            return acquire(mode, null);
        }
        if (mode.equals(Mode.LOCK) && lockAtOnce()) {
            return true;
        }
        boolean locked = recorder().record(attempt -> acquire(mode, attempt));
        if (locked) {
            beginHold();
        }
        return locked;
    }

    // What listeners hear of a thread that doesn't wait needs no attempt, which would take a tenth of a hand-off's
    // time.
    private boolean lockAtOnce() {
        if (local.isAnnounced() || LockRecorder.isInFlight() || !local.tryLock()) {
            return false;
        }
        boolean entered = remote.enterAtOnce();
        if (entered) {
            LockRecorder.tellAcquired(remote, 0, true);
        } else {
            local.unlock();
        }
        return entered;
    }

    // An attempt is passed if it is recorded.
    private boolean acquire(Mode mode, @Nullable Attempt attempt) throws InterruptedException {
        if (mode.interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (lockAgain()) {
            return true;
        }
        remote.beginAttempt();
        boolean hasDeadline = mode.waits() && mode.isTimed();
        long begun = hasDeadline ? remote.now() : 0;
        if (!lockLocally(mode, attempt)) {
            return false;
        }
        if (mode.leaseMillis == RemoteLock.RENEWED && remote.enterAtOnce()) {
            return true;
        }
        long spent = hasDeadline ? remote.now() - begun : 0;
        return enter(mode, mode.waits() ? Math.max(1, mode.waitNanos - spent) : 0, attempt);
    }

    /**
     * Returns false if the current thread doesn't hold the lock; else locks it once more.
     *
     * @throws LeaseLostException if the lock has been lost
     */
    private boolean lockAgain() {
        local.throwIfLost();
        if (local.holds() == 0) {
            return false;
        }
        assertHeld();
        local.lock();
        return true;
    }

    private boolean lockLocally(Mode mode, @Nullable Attempt attempt) throws InterruptedException {
        if (mode.barges) {
            return local.tryLock();
        }
        boolean locked = false;
        try {
            locked = (mode.waits() && lockOrAnnounce(mode, attempt)) || queue(mode);
        } finally {
            if (!locked) {
                remote.cleanUp();
            }
        }
        return locked;
    }

    // A thread that has to queue may have its place in the queue of all JVMs first.
    // One that is recorded sees in any case whether it has to queue. It barges, as it would by itself.
    private boolean lockOrAnnounce(Mode mode, @Nullable Attempt attempt) {
        boolean announces = local.isAnnounced();
        if (!announces && attempt == null) {
            return false;
        }
        if ((!announces || !local.isWanted()) && local.tryLock()) {
            return true;
        }
        if (attempt != null) {
            attempt.begin();
        }
        if (announces) {
            remote.announce(mode.leaseMillis);
        }
        return false;
    }

    private boolean queue(Mode mode) throws InterruptedException {
        if (mode.isTimed()) {
            return local.tryLock(mode.waitNanos);
        }
        if (mode.interruptible) {
            local.lockInterruptibly();
        } else {
            local.lock();
        }
        return true;
    }

    // The thread has the local half, once.
    private boolean enter(Mode mode, long waitNanos, @Nullable Attempt attempt) throws InterruptedException {
        if (attempt != null) {
            attempt.askRedis();
        }
        boolean isLocked = false;
        boolean entered = false;
        try {
            isLocked = local.confirm(mode.interruptible, waitNanos);
            entered = isLocked && remote.enter(mode.interruptible, waitNanos, mode.leaseMillis);
        } finally {
            if (isLocked && !entered) {
                local.unlock();
            }
            if (!entered) {
                remote.cleanUp();
            }
        }
        if (!entered && !mode.isTimed()) {
            throw new AssertionError("a wait without end has ended without the lock");
        }
        return entered;
    }

    @Override
    public void unlock() {
        if (local.holds() != 1) {
            requireHeld();
            local.unlock();
            return;
        }
        LockHold ended = endHold();
        RemoteLock.Departure departure;
        try {
            long now = remote.now();
            endTold(now);
            departure = remote.leave(now);
        } finally {
            local.unlock();
            commit(ended);
            remote.cleanUp();
        }
        if (departure != null) {
            departure.complete();
        }
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

    // ---- recording

    // Made for each time, as most locks are never recorded.
    private LockRecorder recorder() {
        return new LockRecorder(remote, false);
    }

    private void beginHold() {
        LockHold begun = recorder().hold();
        if (begun != null) {
            Map<Thread, LockHold> all = recorded == null ? new ConcurrentHashMap<>() : recorded;
            all.keySet().removeIf(thread -> !thread.isAlive());
            all.put(Thread.currentThread(), begun);
            recorded = all;
        }
    }

    // Of a lost hold listeners know by the loss: the next thread's may have begun.
    private void endTold(long now) {
        if (local.loss() == null) {
            remote.endHold(now);
        }
    }

    /** The thread is about to give up both halves. */
    private @Nullable LockHold endHold() {
        LockHold ended = recorded == null ? null : recorded.remove(Thread.currentThread());
        if (ended != null) {
            ended.end();
        }
        return ended;
    }

    // Others have the lock meanwhile: writing takes time.
    private static void commit(@Nullable LockHold ended) {
        if (ended != null) {
            ended.commit();
        }
    }

    // ---- conditions

    /** Returns the next condition without a name: the k-th one is the same in all JVMs. */
    @Override
    public synchronized Condition newCondition() {
        return new DistributedCondition(this, remote.conditions(), "#" + anonymousConditions++);
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
        LockHold ended = endHold();
        endTold(remote.now());
        try {
            remote.conditions().leave(wait);
        } finally {
            local.unlock();
            commit(ended);
        }
        remote.conditions().left();
        return holds;
    }

    /** Gets the current thread again what it has given up, even if it can't have the remote half. */
    void takeBack(Holds holds, Wait wait) {
        remote.conditions().lineUp(wait);
        do {
            local.lock();
        } while (!isConfirmed());
        try {
            long begun = remote.now();
            boolean isLocal = remote.conditions().enter(wait);
            if (LockRecorder.isOn(remote)) {
                LockRecorder.tellAcquired(remote, remote.now() - begun, isLocal);
                beginHold();
            }
        } finally {
            for (int i = 1; i < holds.exclusive; i++) {
                local.lock();
            }
            local.takeShares(holds.shared);
        }
    }

    private boolean isConfirmed() {
        if (local.isRetired()) {
            local.unlock();
            return false;
        }
        return true;
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
