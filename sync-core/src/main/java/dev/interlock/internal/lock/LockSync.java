package dev.interlock.internal.lock;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.Names;
import dev.interlock.internal.events.LockHold;
import dev.interlock.internal.lock.LockRecorder.Attempt;
import dev.interlock.internal.lock.LockRecorder.RecordedAcquisition;
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

    // ---- acquisition: an attempt is passed if it is recorded

    @Override
    public void lock() {
        if (!isRecorded()) {
            lockRenewed(null);
        } else if (!lockAtOnce()) {
            recordUninterruptibly(this::lockRenewed);
        }
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

    private boolean lockRenewed(@Nullable Attempt attempt) {
        if (lockAgain()) {
            return true;
        }
        remote.beginAttempt();
        lockLocally(RemoteLock.RENEWED, attempt);
        return remote.enterAtOnce() || enterUninterruptibly(FOREVER, RemoteLock.RENEWED, attempt);
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

    /** Locks for at most {@code lease}: 100 ms to 365 days. */
    public void lock(long lease, TimeUnit unit) {
        long leaseMillis = checkedLease(lease, unit);
        if (isRecorded()) {
            recordUninterruptibly(attempt -> lockFixed(leaseMillis, attempt));
        } else {
            lockFixed(leaseMillis, null);
        }
    }

    private boolean lockFixed(long leaseMillis, @Nullable Attempt attempt) {
        if (lockAgain()) {
            return true;
        }
        remote.beginAttempt();
        lockLocally(leaseMillis, attempt);
        return enterUninterruptibly(FOREVER, leaseMillis, attempt);
    }

    private void lockLocally(long leaseMillis, @Nullable Attempt attempt) {
        boolean locked = false;
        try {
            if (!lockOrAnnounce(leaseMillis, attempt)) {
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
    // One that is recorded sees in any case whether it has to queue. It barges, as it would by itself.
    private boolean lockOrAnnounce(long leaseMillis, @Nullable Attempt attempt) {
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
            remote.announce(leaseMillis);
        }
        return false;
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        if (isRecorded()) {
            record(this::lockInterruptibly);
        } else {
            lockInterruptibly(null);
        }
    }

    private boolean lockInterruptibly(@Nullable Attempt attempt) throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (lockAgain()) {
            return true;
        }
        remote.beginAttempt();
        boolean locked = false;
        try {
            if (!lockOrAnnounce(RemoteLock.RENEWED, attempt)) {
                local.lockInterruptibly();
            }
            locked = true;
        } finally {
            if (!locked) {
                remote.cleanUp();
            }
        }
        return remote.enterAtOnce() || enter(true, FOREVER, RemoteLock.RENEWED, attempt);
    }

    @Override
    public boolean tryLock() {
        return isRecorded() ? recordUninterruptibly(this::tryLock) : tryLock(null);
    }

    private boolean tryLock(@Nullable Attempt attempt) {
        if (lockAgain()) {
            return true;
        }
        remote.beginAttempt();
        if (!local.tryLock()) {
            return false;
        }
        return remote.enterAtOnce() || enterUninterruptibly(0, RemoteLock.RENEWED, attempt);
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
        return isRecorded()
                ? record(attempt -> tryLockFor(waitNanos, leaseMillis, attempt))
                : tryLockFor(waitNanos, leaseMillis, null);
    }

    private boolean tryLockFor(long waitNanos, long leaseMillis, @Nullable Attempt attempt)
            throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (lockAgain()) {
            return true;
        }
        remote.beginAttempt();
        long start = remote.now();
        boolean locked = false;
        try {
            locked = (waitNanos > 0 && lockOrAnnounce(leaseMillis, attempt)) || local.tryLock(waitNanos);
        } finally {
            if (!locked) {
                remote.cleanUp();
            }
        }
        if (!locked) {
            return false;
        }
        if (leaseMillis == RemoteLock.RENEWED && remote.enterAtOnce()) {
            return true;
        }
        long left = waitNanos <= 0 ? 0 : Math.max(1, waitNanos - (remote.now() - start));
        return enter(true, left, leaseMillis, attempt);
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

    private boolean enterUninterruptibly(long waitNanos, long leaseMillis, @Nullable Attempt attempt) {
        try {
            return enter(false, waitNanos, leaseMillis, attempt);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    // The thread has the local half, once.
    private boolean enter(boolean interruptible, long waitNanos, long leaseMillis, @Nullable Attempt attempt)
            throws InterruptedException {
        if (attempt != null) {
            attempt.askRedis();
        }
        boolean isLocked = false;
        boolean entered = false;
        try {
            isLocked = local.confirm(interruptible, waitNanos);
            entered = isLocked && remote.enter(interruptible, waitNanos, leaseMillis);
        } finally {
            if (isLocked && !entered) {
                local.unlock();
            }
            if (!entered) {
                remote.cleanUp();
            }
        }
        if (!entered && waitNanos == FOREVER) {
            throw new AssertionError("a wait without end has ended without the lock");
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

    // ---- recording

    // Re-entries aren't recorded.
    private boolean isRecorded() {
        return LockRecorder.isOn(remote) && local.holds() == 0;
    }

    // Made for each time, as most locks are never recorded.
    private LockRecorder recorder() {
        return new LockRecorder(remote, false);
    }

    private boolean record(RecordedAcquisition acquisition) throws InterruptedException {
        return beginHoldIf(recorder().record(acquisition));
    }

    private boolean recordUninterruptibly(RecordedAcquisition acquisition) {
        try {
            return beginHoldIf(recorder().record(acquisition));
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    private boolean beginHoldIf(boolean locked) {
        if (locked) {
            beginHold();
        }
        return locked;
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
