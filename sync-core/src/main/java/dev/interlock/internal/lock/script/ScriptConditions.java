package dev.interlock.internal.lock.script;

import static java.util.Objects.requireNonNull;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.Names;
import dev.interlock.internal.Stake;
import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.redis.Failures;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.Collection;
import java.util.List;
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
    private final LockMonitor monitor;
    private final Halves<?> local;

    /** Creates the threads' side of these conditions. */
    ScriptConditions(RedisSession session, ScriptLock lock, LockMonitor monitor, Halves<?> local) {
        this.session = session;
        this.lock = lock;
        this.monitor = monitor;
        this.local = local;
    }

    @Override
    public Wait enlist(String condition) {
        LockTenure current = lock.valid();
        long sequence = session.nextSequence();
        return monitor.call((state, now) -> {
            session.ensureOpen();
            return state.conditions().enlist(Thread.currentThread(), current, condition, sequence, now);
        });
    }

    /** Returns the threads that wait, those that have waited longest first. */
    List<Stake.Wait> waiting() {
        return monitor.call((state, now) ->
                state.ownership.hasConditions() ? state.conditions().waiting(now) : List.of());
    }

    /** Returns the sequence of the ticket with which a thread waits for the lock, or 0. */
    long placeOf(Thread thread) {
        return monitor.call((state, now) -> state.tickets.sequenceOf(thread));
    }

    @Override
    public void leave(Wait wait) {
        Waiter waiter = (Waiter) wait;
        LockTenure current = lock.tenure();
        long now = session.now();
        if (current == null || local.loss() != null) {
            // Lost just now, with what the thread had to wait for.
            waiter.isLost = true;
        } else if (current.isOver(now) || !lock.isKept(current, true, now)) {
            waiter.isLost = current.isOver(now);
            waiter.released = current;
            monitor.giveUp(current).insist();
        }
    }

    @Override
    public void left() {
        lock.cleanUpExceptPlaces();
    }

    @Override
    public Outcome sleep(Wait wait, boolean interruptible, boolean timed, long deadlineNanos) {
        Waiter waiter = (Waiter) wait;
        boolean byInterrupt = false;
        boolean isInterrupt = false;
        try {
            try {
                awaitOutcome(waiter, interruptible, timed, deadlineNanos);
            } catch (InterruptedException e) {
                byInterrupt = true;
            }
            if (waiter.outcome == null) {
                monitor.run((state, now) -> state.conditions().leave(waiter, now));
                awaitOutcomeUninterruptibly(waiter);
            }
            isInterrupt = byInterrupt && waiter.outcome == Waiter.Outcome.LEFT;
        } finally {
            if (byInterrupt && !isInterrupt) {
                Thread.currentThread().interrupt();
            }
        }
        return isInterrupt ? Outcome.INTERRUPTED : outcome(waiter);
    }

    /** Returns when the wait has an outcome, or its time is over. */
    private void awaitOutcome(Waiter waiter, boolean interruptible, boolean timed, long deadlineNanos)
            throws InterruptedException {
        try (RemoteWait wait = new RemoteWait(session, interruptible, RemoteWait.FOREVER, lock::unavailable)) {
            waiter.wakeUp = wait::wake;
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
                if (session.outage().isTooLong() && abandon(waiter)) {
                    throw lock.unavailable(session.settings().redisTimeoutNanos());
                }
                wait.sleep(this, Math.min(left, TicketQueue.POLL_NANOS));
                monitor.run((state, now) -> state.conditions().beat(now));
            }
        }
    }

    private boolean abandon(Waiter waiter) {
        return monitor.call((state, now) -> state.conditions().abandon(waiter));
    }

    private void awaitOutcomeUninterruptibly(Waiter waiter) {
        try {
            awaitOutcome(waiter, false, false, 0);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }

    private Outcome outcome(Waiter waiter) {
        return switch (requireNonNull(waiter.outcome)) {
            case LOST -> throw new LeaseLostException(lock.name(), 0, LockState.OWNER_CHANGED);
            case REFUSED ->
                throw Failures.refusal(
                        "a wait for a condition of lock " + Names.quoted(lock.name()), requireNonNull(waiter.refusal));
            case CLOSED -> throw new IllegalStateException("the Interlock session is closed");
            case LEFT -> Outcome.TIMED_OUT;
            case SIGNALLED -> Outcome.SIGNALLED;
        };
    }

    @Override
    public void lineUp(Wait wait) {
        Waiter waiter = (Waiter) wait;
        monitor.call((state, now) -> state.conditions().lineUp(waiter))
                .filter(ahead -> lock.view.fair)
                .ifPresent(this::awaitQueued);
    }

    // It is at the same point, and mostly further.
    private void awaitQueued(Waiter ahead) {
        long begun = session.now();
        while (!ahead.isThrough && !local.isQueued(ahead.thread) && session.now() - begun < MAX_LINING_UP_NANOS) {
            RemoteWait.pause(session, this, LINING_UP_NANOS);
        }
    }

    @Override
    public boolean enter(Wait wait) {
        Waiter waiter = (Waiter) wait;
        monitor.run((state, now) -> state.conditions().arrived(waiter, false));
        boolean entered = false;
        lock.returns(true);
        try {
            boolean atOnce = waiter.leaseMillis == RemoteLock.RENEWED && lock.enterAtOnce();
            entered = atOnce || enterAgain(waiter.leaseMillis);
            return atOnce;
        } finally {
            lock.returns(false);
            if (!entered) {
                local.retire(
                        new LeaseLostException(
                                lock.name(), 0, "it could not be taken back after waiting for a condition"),
                        () -> true);
                lock.cleanUp();
                monitor.run((state, now) -> state.conditions().arrived(waiter, true));
            }
        }
    }

    @Override
    public void signal(String condition, boolean all) {
        LockTenure current = lock.valid();
        monitor.run((state, now) -> state.conditions().signal(current, condition, all, now));
    }

    @Override
    public int count(String condition) {
        return inspect(condition, false).count();
    }

    private SignalReply inspect(String condition, boolean isListed) {
        LockTenure current = lock.valid();
        SignalReply signalled =
                session.answer(monitor.count(current, condition, isListed), "for lock " + Names.quoted(lock.name()));
        if (!signalled.owned()) {
            throw new LeaseLostException(monitor.lose(current, LockState.OWNER_CHANGED));
        }
        return signalled;
    }

    @Override
    public Collection<Thread> threads(String condition) {
        Set<Long> own = inspect(condition, true).own();
        return monitor.call((state, now) -> state.conditions().threads(own));
    }

    private boolean enterAgain(long leaseMillis) {
        try {
            return lock.enter(false, Long.MAX_VALUE, leaseMillis);
        } catch (InterruptedException e) {
            throw new AssertionError("an uninterruptible wait was interrupted", e);
        }
    }
}
