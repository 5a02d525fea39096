package dev.interlock.internal.barrier;

import dev.interlock.internal.Names;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.session.RedisSession;
import dev.interlock.internal.session.RemoteWait;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * How a thread waits at a barrier. The thread decides when it has waited enough; only Redis decides whether its
 * generation has tripped by then. So a thread that is interrupted, or whose time is over, asks for its generation to be
 * broken, and goes on waiting for the outcome: for one command time-out if Redis is silent, and as long as it takes if
 * the action is being run.
 */
final class BarrierSync {
    private final ScriptBarrier barrier;
    private final RedisSession session;
    private final RemoteWait wait;
    private final @Nullable Runnable action;
    private final Arrival arrival;

    /** Completes when Redis has been told of the last wish. */
    private @Nullable CompletableFuture<Void> told;

    private long toldNanos;
    private boolean interrupted;
    private boolean timedOut;

    /** Whether an interrupt came first, so that the thread has left because of it. */
    private boolean leftByInterrupt;

    /** Creates the wait of the current thread, which an interrupt ends. */
    BarrierSync(ScriptBarrier barrier, RedisSession session, RemoteWait wait, @Nullable Runnable action) {
        this.barrier = barrier;
        this.session = session;
        this.wait = wait;
        this.action = action;
        this.arrival = new Arrival(Thread.currentThread(), action != null, wait.begunNanos());
    }

    /** Returns the thread's index of arrival. */
    int pass() throws InterruptedException, BrokenBarrierException, TimeoutException {
        session.ensureOpen();
        try {
            toldNanos = wait.begunNanos();
            if (Thread.interrupted()) {
                interrupted = true;
                leftByInterrupt = true;
                barrier.arrive(arrival, true);
                return result(await(arrival.end, true));
            }
            timedOut = wait.isOnce();
            arrival.leaves = timedOut;
            barrier.arrive(arrival, false);
            Fate fate = await(arrival.turn, true);
            return result(fate == Fate.ACTS ? act() : fate);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Fate act() {
        // The action sees the flag as if it had not been read.
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        boolean completed = false;
        try {
            if (action != null) {
                action.run();
            }
            completed = true;
        } finally {
            hasActed(completed);
        }
        if (arrival.renewed) {
            return Fate.TRIPPED;
        }
        return await(arrival.end, false);
    }

    /** Waits for the breakage by an action that failed, if it is confirmed: what that has thrown is thrown anyway. */
    private void hasActed(boolean completed) {
        toldNanos = session.now();
        told = barrier.tellOf(known -> known.acted(arrival, completed));
        if (completed) {
            return;
        }
        interrupted |= Thread.interrupted();
        if (session.await(arrival.end) == null) {
            barrier.change(known -> known.abandon(arrival));
        }
    }

    /** @param mayLeave whether an interrupt, or the end of its time, has the thread ask for the breakage */
    private Fate await(CompletableFuture<Fate> step, boolean mayLeave) {
        step.whenComplete((fate, failure) -> wait.wake());
        while (true) {
            boolean canLeave = mayLeave && !leftByInterrupt && !timedOut;
            long left = canLeave ? wait.callersLeftNanos() : RemoteWait.FOREVER;
            try {
                if (wait.until(step::isDone, this, Math.max(1, Math.min(left, RemoteWait.LOOK_NANOS)))) {
                    return step.join();
                }
            } catch (InterruptedException e) {
                interrupted = true;
                if (canLeave) {
                    leftByInterrupt = true;
                    leave();
                }
                continue;
            }
            checkOutage(step, !canLeave);
            if (canLeave && wait.callersLeftNanos() <= 0) {
                timedOut = true;
                leave();
            }
        }
    }

    private void leave() {
        toldNanos = session.now();
        told = barrier.tellOf(known -> known.leave(arrival));
    }

    /** @param impatient whether the thread waits for the answer to its wish only */
    private void checkOutage(CompletableFuture<Fate> step, boolean impatient) {
        long commandNanos = TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
        boolean silent = told == null || !told.isDone();
        boolean over =
                impatient && (wait.isTimed() || leftByInterrupt) && silent && session.now() - toldNanos >= commandNanos;
        if ((over || session.outage().isTooLong()) && !step.isDone()) {
            barrier.change(known -> known.abandon(arrival));
            if (!step.isDone()) {
                throw wait.unavailable();
            }
        }
    }

    private int result(Fate fate) throws InterruptedException, BrokenBarrierException, TimeoutException {
        switch (fate) {
            case TRIPPED -> {
                return barrier.parties() - arrival.place;
            }
            case BREAKER -> {
                if (leftByInterrupt) {
                    interrupted = false;
                    throw new InterruptedException();
                }
                throw new TimeoutException("barrier " + Names.quoted(barrier.name()) + " has not tripped in time");
            }
            case CLOSED -> throw closed();
            case REFUSED -> throw barrier.refusal(arrival.failure);
            default ->
                throw new BrokenBarrierException(
                        "barrier " + Names.quoted(barrier.name()) + " is broken; reset() makes it usable again");
        }
    }

    private IllegalStateException closed() {
        session.ensureOpen();
        return new IllegalStateException("the Interlock session is closed");
    }

    @Override
    public String toString() {
        return "arrival at " + barrier;
    }
}
