package dev.interlock.internal.lock;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.Names;
import dev.interlock.internal.lock.LockSync.Holds;
import dev.interlock.internal.lock.RemoteConditions.Outcome;
import dev.interlock.internal.lock.RemoteConditions.Wait;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Date;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;

/**
 * A condition of a lock, on which threads of all JVMs wait and which threads of any JVM signal. Which of them is next,
 * and whether a signal, a time-out or an interrupt came first, is decided in Redis; this is the threads' side.
 */
final class DistributedCondition implements Condition {
    private final LockSync lock;
    private final RemoteConditions conditions;
    private final String key;

    DistributedCondition(LockSync lock, RemoteConditions conditions, String key) {
        this.lock = lock;
        this.conditions = conditions;
        this.key = key;
    }

    boolean belongsTo(LockSync other) {
        return lock == other;
    }

    @Override
    public void await() throws InterruptedException {
        waitFor(true, false, 0);
    }

    @Override
    public void awaitUninterruptibly() {
        try {
            waitFor(false, false, 0);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    @Override
    public long awaitNanos(long nanosTimeout) throws InterruptedException {
        long deadline = lock.now() + Math.max(0, nanosTimeout);
        waitFor(true, true, deadline);
        long left = deadline - lock.now();
        // As in the JDK: what is left is never more than what was given.
        return left <= nanosTimeout ? left : Long.MIN_VALUE;
    }

    @Override
    public boolean await(long time, TimeUnit unit) throws InterruptedException {
        return waitFor(
                true,
                true,
                lock.now() + Math.max(0, requireNonNull(unit, "unit").toNanos(time)));
    }

    @Override
    @SuppressWarnings("JavaUtilDate") // the JDK's signature
    public boolean awaitUntil(Date deadline) throws InterruptedException {
        Duration wait = Duration.between(InstantSource.system().instant(), Instant.ofEpochMilli(deadline.getTime()));
        return waitFor(true, true, lock.now() + Math.max(0, TimeUnit.NANOSECONDS.convert(wait)));
    }

    /** Returns whether it ended by a signal, or for no reason, and not because its time was over. */
    private boolean waitFor(boolean interruptible, boolean timed, long deadlineNanos) throws InterruptedException {
        lock.requireHeld();
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        Wait wait = conditions.enlist(key);
        Holds holds = lock.giveUp(wait);
        Outcome outcome;
        try {
            outcome = conditions.sleep(wait, interruptible, timed, deadlineNanos);
        } finally {
            lock.takeBack(holds, wait);
        }
        if (outcome == Outcome.INTERRUPTED) {
            throw new InterruptedException();
        }
        return outcome == Outcome.SIGNALLED;
    }

    @Override
    public void signal() {
        lock.requireHeld();
        conditions.signal(key, false);
    }

    @Override
    public void signalAll() {
        lock.requireHeld();
        conditions.signal(key, true);
    }

    int waiters() {
        return conditions.count(key);
    }

    Collection<Thread> threads() {
        return conditions.threads(key);
    }

    @Override
    public String toString() {
        return "condition " + Names.excerpt(key) + " of " + Names.quoted(lock.name());
    }
}
