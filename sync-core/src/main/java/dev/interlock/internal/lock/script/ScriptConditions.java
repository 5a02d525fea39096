package dev.interlock.internal.lock.script;

import static java.util.Objects.requireNonNull;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.Locked;
import dev.interlock.internal.lock.LocalLock;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.Collection;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The conditions of a lock over our own scripts: what threads do. What becomes of them meanwhile is with
 * {@link ConditionQueue}.
 */
final class ScriptConditions implements RemoteConditions {
    /** How often to look whether a thread has queued that is about to. */
    private static final long LINING_UP_NANOS = 10_000;

    /** A thread that has not queued after so long may have met with an accident. */
    private static final long MAX_LINING_UP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final RedisSession session;
    private final ScriptLock lock;
    private final LocalLock local;
    private final boolean fair;
    private final Locked<ConditionQueue> queue;

    /** Creates the threads' side of these conditions. */
    ScriptConditions(ScriptLock lock, LocalLock local, LockMonitor.Shared shared, ConditionQueue queue) {
        this.session = shared.session();
        this.lock = lock;
        this.local = local;
        this.fair = shared.state().fair;
        this.queue = new Locked<>(shared.mutex(), queue);
    }

    @Override
    public Wait enlist(String condition) {
        LockTenure current = lock.valid();
        return queue.call(waiters -> waiters.enlist(current, condition));
    }

    @Override
    public void leave(Wait wait) {
        lock.leave((ConditionWaiter) wait);
    }

    @Override
    public void left() {
        lock.cleanUpExceptPlaces();
    }

    @Override
    public Outcome sleep(Wait wait, boolean interruptible, boolean timed, long deadlineNanos) {
        ConditionWaiter waiter = (ConditionWaiter) wait;
        boolean byInterrupt = false;
        boolean isInterrupt = false;
        try {
            try {
                awaitOutcome(waiter, interruptible, timed, deadlineNanos);
            } catch (InterruptedException e) {
                byInterrupt = true;
            }
            if (waiter.outcome == null) {
                queue.run(waiters -> waiters.leave(waiter));
                awaitOutcomeUninterruptibly(waiter);
            }
            isInterrupt = byInterrupt && waiter.outcome == ConditionWaiter.Outcome.LEFT;
        } finally {
            if (byInterrupt && !isInterrupt) {
                Thread.currentThread().interrupt();
            }
        }
        return isInterrupt ? Outcome.INTERRUPTED : outcome(waiter);
    }

    /** Returns when the wait has an outcome, or its time is over. */
    private void awaitOutcome(ConditionWaiter waiter, boolean interruptible, boolean timed, long deadlineNanos)
            throws InterruptedException {
        try (RemoteWait wait = new RemoteWait(session, interruptible, RemoteWait.FOREVER, lock::unavailable)) {
            waiter.wait = wait;
            while (true) {
                wait.look();
                if (waiter.outcome != null) {
                    return;
                }
                wait.checkInterrupt();
                long left = timed ? deadlineNanos - session.now() : RemoteWait.FOREVER;
                if (left <= 0) {
                    return;
                }
                if (lock.hasOutageLasted() && queue.call(waiters -> waiters.abandon(waiter))) {
                    throw lock.unavailable(session.settings().redisTimeoutNanos());
                }
                wait.sleep(this, Math.min(left, TicketRequest.POLL_NANOS));
                queue.run(ConditionQueue::askIfDue);
            }
        }
    }

    private void awaitOutcomeUninterruptibly(ConditionWaiter waiter) {
        try {
            awaitOutcome(waiter, false, false, 0);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    private Outcome outcome(ConditionWaiter waiter) {
        return switch (requireNonNull(waiter.outcome)) {
            case LOST -> throw new LeaseLostException(lock.name(), 0, "its owner in Redis had changed");
            case CLOSED -> throw new IllegalStateException("the Interlock session is closed");
            case LEFT -> Outcome.TIMED_OUT;
            case SIGNALLED -> Outcome.SIGNALLED;
        };
    }

    @Override
    public void lineUp(Wait wait) {
        ConditionWaiter waiter = (ConditionWaiter) wait;
        ConditionWaiter ahead = queue.call(waiters -> waiter.lineUp());
        if (fair && ahead != null) {
            // It is at the same point, and mostly further.
            long begun = session.now();
            while (!ahead.isThrough && !local.isQueued(ahead.thread) && session.now() - begun < MAX_LINING_UP_NANOS) {
                RemoteWait.pause(session, this, LINING_UP_NANOS);
            }
        }
    }

    @Override
    public void enter(Wait wait) {
        ConditionWaiter waiter = (ConditionWaiter) wait;
        queue.run(waiters -> waiters.arrived(waiter, false));
        boolean entered = false;
        try {
            entered = lock.enterAgain(waiter.leaseMillis);
        } finally {
            if (!entered) {
                lock.holdLocallyOnly(new LeaseLostException(
                        lock.name(), 0, "it could not be taken back after waiting for a condition"));
                queue.run(waiters -> waiters.arrived(waiter, true));
            }
        }
    }

    @Override
    public void signal(String condition, boolean all) {
        LockTenure current = lock.valid();
        queue.run(waiters -> waiters.signal(current, condition, all));
    }

    @Override
    public int count(String condition) {
        return inspect(condition, false).count();
    }

    private SignalReply inspect(String condition, boolean isListed) {
        LockTenure current = lock.valid();
        SignalReply signalled = session.await(queue.call(waiters -> waiters.inspect(current, condition, isListed)));
        if (signalled == null) {
            throw lock.unavailable(
                    TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis()));
        }
        if (!signalled.owned()) {
            throw new LeaseLostException(current.lose("its owner in Redis had changed"));
        }
        return signalled;
    }

    @Override
    public Collection<Thread> threads(String condition) {
        Set<Long> own = inspect(condition, true).own();
        return queue.call(waiters -> waiters.threads(own));
    }
}
