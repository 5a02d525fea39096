package dev.interlock.internal.lock;

import static java.util.Objects.requireNonNull;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.LockRecorder.Attempt;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import org.jspecify.annotations.Nullable;

/**
 * The reading side of a lock of all threads of all JVMs: how threads come to share both halves.
 *
 * <p>Threads of one session read on one tenure. One that finds a usable tenure shares the local half and enters; nobody
 * else is asked. If there is none, one of those who want it becomes the <em>leader</em>, which asks for it. If the
 * local half is free, the leader takes it whole while it waits, and then shares it; the others queue for shares
 * meanwhile. If it isn't free, be it that a writer waits itself, all queue for shares. One that gets a share and finds
 * no tenure leads with that share, and the others keep theirs until it has entered or has left; then one of these takes
 * its place. So readers have their places in the local queue: they enter when the writer before them stops writing, and
 * before the writers behind them. Each has its own deadline. A thread that doesn't wait takes a share, if the local
 * half lets it, and asks with that.
 *
 * <p>Where nothing tells readers that they may join those inside, the leader queues for the whole half until these have
 * left, or for a while. No thread that waits enters before it: else readers could wait for readers. A thread that reads
 * or writes already passes in any case, or it would wait for itself.
 */
public final class ReadSync implements Lock {
    private static final long FOREVER = Long.MAX_VALUE;

    /** How often to look what the leader does. */
    private static final long LOOK_NANOS = 50_000;

    /** The thread that asks for a tenure, for as long as it does. */
    private static final class Leader {
        private final Thread thread = Thread.currentThread();

        /** Whether it has a share of the local half, and doesn't take the whole of it. */
        private final boolean shares;

        Leader(boolean shares) {
            this.shares = shares;
        }
    }

    private final ReadWriteHalves local;
    private final RemoteReadWriteLock remote;
    private final LockRecorder recorder;
    private final AtomicReference<@Nullable Leader> leader = new AtomicReference<>();

    /** Joins the two halves. */
    public ReadSync(ReadWriteHalves local, RemoteReadWriteLock remote) {
        this.local = local;
        this.remote = remote;
        this.recorder = new LockRecorder(remote, true);
    }

    @Override
    public void lock() {
        try {
            share(false, FOREVER);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        share(true, FOREVER);
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        long waitNanos = requireNonNull(unit, "unit").toNanos(wait);
        if (waitNanos > 0) {
            return share(true, waitNanos);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return tryShare(false);
    }

    // Re-entries aren't recorded.
    private boolean isRecorded() {
        return LockRecorder.isOn(remote) && !isInside();
    }

    private boolean share(boolean interruptible, long waitNanos) throws InterruptedException {
        return isRecorded()
                ? recorder.record(attempt -> share(interruptible, waitNanos, attempt))
                : share(interruptible, waitNanos, null);
    }

    private boolean share(boolean interruptible, long waitNanos, @Nullable Attempt attempt)
            throws InterruptedException {
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (shareAgain()) {
            return true;
        }
        long begun = remote.now();
        boolean timed = waitNanos != FOREVER;
        do {
            remote.ensureAcquiring();
            boolean admitted = remote.mayEnterShared(begun);
            if (attempt != null && (!admitted || local.isWanted() || local.isOwned())) {
                attempt.begin();
            }
            if (!admitted && remote.isBarred(begun)) {
                remote.await(() -> !remote.isBarred(begun), interruptible, waitNanos, begun);
            } else if (!admitted && lead(interruptible, left(waitNanos, begun), begun)) {
                return enter(interruptible, left(waitNanos, begun), begun, attempt);
            } else if (follow(interruptible, waitNanos, begun, attempt)) {
                return true;
            }
        } while (!timed || left(waitNanos, begun) > 0);
        return false;
    }

    private long left(long waitNanos, long begun) {
        return waitNanos == FOREVER ? FOREVER : Math.max(0, waitNanos - (remote.now() - begun));
    }

    private boolean isInside() {
        return local.isMine();
    }

    /**
     * Returns false if the current thread is not inside; else shares the local half once more.
     *
     * @throws LeaseLostException if the lock has been lost
     */
    private boolean shareAgain() {
        if (!isInside()) {
            return false;
        }
        assertHeld();
        return local.readLock().tryLock();
    }

    // Gets a share, behind those that have queued before, and enters; or steps back.
    private boolean follow(boolean interruptible, long waitNanos, long begun, @Nullable Attempt attempt)
            throws InterruptedException {
        boolean shares = false;
        try {
            shares = takeShare(interruptible, left(waitNanos, begun));
        } finally {
            if (!shares) {
                remote.cleanUp();
            }
        }
        boolean entered = false;
        try {
            entered = shares && enterSharing(interruptible, waitNanos, begun, attempt);
        } finally {
            if (shares && !entered) {
                stepBack();
            }
        }
        if (shares && !entered && leader.get() != null) {
            // It may be about to queue.
            remote.pause(this, LOOK_NANOS);
        }
        return entered;
    }

    // The thread has a share, and keeps it while one of those that share asks.
    private boolean enterSharing(boolean interruptible, long waitNanos, long begun, @Nullable Attempt attempt)
            throws InterruptedException {
        do {
            Leader asking = leader.get();
            if (asking == null) {
                if (remote.enterSharedAtOnce(begun)) {
                    return true;
                }
                if (remote.drainNanos() > 0 || !mayAskSharing()) {
                    return false;
                }
                if (leadSharing()) {
                    return askSharing(interruptible, Math.max(1, left(waitNanos, begun)), begun, attempt);
                }
            } else if (asking.shares) {
                remote.await(() -> leader.get() != asking, interruptible, waitNanos, begun);
            } else {
                return false;
            }
        } while (left(waitNanos, begun) > 0);
        return false;
    }

    // Becomes the leader with a share, unless the leader before has brought a tenure just now.
    private boolean leadSharing() {
        if (!mayAskSharing() || !becomeLeader(true)) {
            return false;
        }
        boolean leads = mayAskSharing();
        if (!leads) {
            leader.set(null);
            remote.wakeReaders();
        }
        return leads;
    }

    private boolean askSharing(boolean interruptible, long waitNanos, long begun, @Nullable Attempt attempt)
            throws InterruptedException {
        try {
            if (attempt != null) {
                attempt.askRedis();
            }
            return remote.enterShared(interruptible, waitNanos, begun);
        } finally {
            leader.set(null);
            remote.wakeReaders();
        }
    }

    // In this order: where there is no tenure, none can be lost, so that the half isn't retired afterwards.
    private boolean mayAskSharing() {
        return remote.mayAskSharing() && !local.isRetired();
    }

    private boolean becomeLeader(boolean shares) {
        return leader.compareAndSet(null, new Leader(shares));
    }

    // A thread that has left meanwhile may have had to leave it to this one to clean up.
    private void stepBack() {
        local.readLock().unlock();
        remote.leftShared();
    }

    // Becomes the leader and takes the local half, or steps down. One that has no chance doesn't become it: those that
    // share would step back. Asked in this order, as a thread queues before it shares.
    private boolean lead(boolean interruptible, long waitNanos, long begun) throws InterruptedException {
        long drainNanos = remote.drainNanos();
        if ((drainNanos == 0 && (local.isWanted() || local.isHeld())) || !becomeLeader(false)) {
            return false;
        }
        long nanos = Math.min(waitNanos, drainNanos);
        boolean locked = false;
        try {
            // It may enter since a moment ago, and those inside may stay.
            locked = !remote.mayEnterShared(begun)
                    && (interruptible ? local.tryLock(nanos) : tryLockUninterruptibly(nanos));
            if (locked && local.isRetired()) {
                local.unlock();
                locked = false;
            }
        } finally {
            if (!locked) {
                leader.set(null);
                remote.cleanUp();
            }
        }
        return locked;
    }

    private boolean takeShare(boolean interruptible, long waitNanos) throws InterruptedException {
        if (waitNanos != FOREVER) {
            return local.readLock().tryLock(waitNanos, TimeUnit.NANOSECONDS);
        }
        if (interruptible) {
            local.readLock().lockInterruptibly();
        } else {
            local.readLock().lock();
        }
        return true;
    }

    private boolean tryLockUninterruptibly(long waitNanos) {
        long begun = remote.now();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return local.tryLock(left(waitNanos, begun));
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean enter(boolean interruptible, long waitNanos, long begun, @Nullable Attempt attempt)
            throws InterruptedException {
        if (attempt != null) {
            attempt.askRedis();
        }
        boolean entered = false;
        try {
            entered = remote.enterShared(interruptible, waitNanos, begun);
        } finally {
            if (entered) {
                local.readLock().lock();
            }
            local.unlock();
            leader.set(null);
            if (!entered) {
                remote.cleanUp();
            }
        }
        return entered;
    }

    @Override
    public boolean tryLock() {
        try {
            return tryShare(true);
        } catch (InterruptedException e) {
            throw new AssertionError("no wait could be interrupted", e);
        }
    }

    // A thread that doesn't barge leaves the lock to those that queue for it.
    private boolean tryShare(boolean barges) throws InterruptedException {
        return isRecorded() ? recorder.record(attempt -> tryShare(barges, attempt)) : tryShare(barges, null);
    }

    private boolean tryShare(boolean barges, @Nullable Attempt attempt) throws InterruptedException {
        if (shareAgain()) {
            return true;
        }
        long begun = remote.now();
        while (true) {
            remote.ensureAcquiring();
            // A reader that leads may be queued for the whole half: it is in nobody's way.
            boolean passes = barges || isLeaderNext();
            if (passes ? local.readLock().tryLock() : local.readLock().tryLock(0, TimeUnit.NANOSECONDS)) {
                boolean entered = false;
                boolean leads = false;
                try {
                    entered = remote.enterSharedAtOnce(begun);
                    leads = !entered && leadSharing();
                    entered |= leads && askSharing(false, 0, begun, attempt);
                } finally {
                    if (!entered) {
                        stepBack();
                    }
                }
                if (entered || leads || remote.isBarred(begun)) {
                    return entered;
                }
            } else if (local.isOwned() ? !remote.isWaiting() : !passes && !isLeaderNext() && local.isWanted()) {
                return false;
            }
            // Another thread of this session asks, too. If it only asks, or has had no answer, that is soon to come.
            if (remote.isRefused() || remote.now() - begun >= remote.commandTimeoutNanos()) {
                return false;
            }
            remote.pause(this, LOOK_NANOS);
        }
    }

    @Override
    public void unlock() {
        int shares = local.sharedHolds();
        if (shares == 0) {
            throw LockSync.notHeld(remote);
        }
        if (shares > 1 || local.holds() > 0) {
            local.readLock().unlock();
            return;
        }
        LeaseLostException known = local.loss();
        LeaseLostException loss = known == null ? remote.leaveShared() : known;
        stepBack();
        if (loss != null) {
            throw new LeaseLostException(loss);
        }
    }

    private boolean isLeaderNext() {
        Leader current = leader.get();
        if (current == null || current.shares) {
            return false;
        }
        List<Thread> queued = local.queued();
        return !queued.isEmpty() && isLeader(queued.get(0));
    }

    /** Throws {@link LeaseLostException} unless what the current thread shares is still valid. */
    public void assertHeld() {
        if (!isInside()) {
            throw LockSync.notHeld(remote);
        }
        local.throwIfLost();
        remote.assertValid();
        local.throwIfLost();
    }

    /** Returns whether that thread wants to share, though it may have the local half or queue for it. */
    public boolean isLeader(@Nullable Thread thread) {
        Leader current = leader.get();
        return thread != null && current != null && current.thread == thread;
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a read lock has no conditions");
    }
}
