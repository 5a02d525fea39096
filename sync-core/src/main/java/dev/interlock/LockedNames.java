package dev.interlock;

import com.google.common.collect.ImmutableList;
import dev.interlock.internal.session.RemoteWait;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Several names as one lock, which a thread owns and may lock again. The threads of one object wait for each other
 * locally; the one in front acquires a {@link Hold} of all names.
 */
final class LockedNames implements Lock {
    private final Holds holds;
    private final ImmutableList<String> names;
    private final ReentrantLock local = new ReentrantLock();

    /** What the thread that has the local lock has. */
    private @Nullable Hold held;

    LockedNames(Holds holds, ImmutableList<String> names) {
        this.holds = holds;
        this.names = names;
    }

    @Override
    public void lock() {
        local.lock();
        try {
            enter(RemoteWait.FOREVER, false);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        local.lockInterruptibly();
        enter(RemoteWait.FOREVER, true);
    }

    @Override
    public boolean tryLock() {
        try {
            return local.tryLock() && enter(0, false);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    @Override
    public boolean tryLock(long wait, TimeUnit unit) throws InterruptedException {
        long begun = System.nanoTime();
        long nanos = Math.min(unit.toNanos(wait), RemoteWait.FOREVER - 1);
        return local.tryLock(nanos, TimeUnit.NANOSECONDS)
                && enter(Math.max(0, nanos - (System.nanoTime() - begun)), true);
    }

    /** The current thread has the local lock, and keeps it only if it gets the hold. */
    private boolean enter(long waitNanos, boolean interruptible) throws InterruptedException {
        if (local.getHoldCount() > 1) {
            return true;
        }
        try {
            held = holds.tryHoldAll(names, waitNanos, interruptible).orElse(null);
        } finally {
            if (held == null) {
                local.unlock();
            }
        }
        return held != null;
    }

    @Override
    public void unlock() {
        if (!local.isHeldByCurrentThread()) {
            throw new IllegalMonitorStateException("the current thread doesn't hold " + this);
        }
        Hold ended = held;
        boolean isOutermost = local.getHoldCount() == 1;
        try {
            if (isOutermost && ended != null) {
                held = null;
                ended.close();
            }
        } finally {
            local.unlock();
        }
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("a lock of several names has no conditions; that of one name has them");
    }

    @Override
    public String toString() {
        return "the lock of " + names.size() + " names, beginning with " + names.get(0);
    }
}
