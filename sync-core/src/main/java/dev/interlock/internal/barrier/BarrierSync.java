package dev.interlock.internal.barrier;

import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.RedisSession;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * How a thread waits at a barrier. It alone decides when it has waited enough; only Redis decides whether its
 * generation has tripped by then. So a thread that is interrupted, or whose time is over, asks for its generation to be
 * broken and goes on waiting for what becomes of that: for one command time-out if Redis is silent, and as long as it
 * takes if the action is being run.
 */
final class BarrierSync {
    /** An outage is looked for so often. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ScriptBarrier barrier;
    private final RedisSession session;
    private final @Nullable Runnable action;
    private final boolean timed;
    private final long waitNanos;
    private final Arrival arrival;
    private final long begun;

    /** Completes when Redis has been told of the last wish. */
    private @Nullable CompletableFuture<Void> told;

    private long toldNanos;
    private boolean interrupted;
    private boolean timedOut;

    /** The interrupt came first, so it's by that that the thread has left. */
    private boolean leftByInterrupt;

    BarrierSync(ScriptBarrier barrier, @Nullable Runnable action, boolean timed, long waitNanos) {
        this.barrier = barrier;
        this.session = barrier.session();
        this.action = action;
        this.timed = timed;
        this.waitNanos = waitNanos;
        this.arrival = new Arrival(action != null);
        this.begun = session.now();
    }

    /** Returns the thread's index of arrival. */
    int pass() throws InterruptedException, BrokenBarrierException, TimeoutException {
        session.ensureOpen();
        try {
            if (Thread.interrupted()) {
                interrupted = true;
                leftByInterrupt = true;
                toldNanos = begun;
                barrier.comeToBreak(arrival);
                return result(await(arrival.end, true));
            }
            timedOut = timed && waitNanos <= 0;
            arrival.leaves = timedOut;
            toldNanos = begun;
            barrier.arrive(arrival);
            Fate fate = await(arrival.turn, true);
            return result(fate == Fate.ACTS ? act() : fate);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Fate act() {
        // The action sees the flag as it would if nobody had looked at it.
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
            toldNanos = session.now();
            told = barrier.acted(arrival, completed);
            if (!completed) {
                awaitBreakage();
            }
        }
        if (arrival.renewed) {
            return Fate.TRIPPED;
        }
        return await(arrival.end, false);
    }

    /** Waits for the confirmation, if it comes: whatever the action has thrown is to be thrown. */
    private void awaitBreakage() {
        boolean flagged = Thread.interrupted();
        interrupted |= flagged;
        CompletableFuture<Fate> end = arrival.end;
        if (session.await(end) == null) {
            barrier.abandon(arrival);
        }
    }

    /** @param mayLeave whether an interrupt, or the end of its time, has the thread ask for the breakage */
    private Fate await(CompletableFuture<Fate> step, boolean mayLeave) {
        while (true) {
            long now = session.now();
            boolean leaves = arrivalLeaves();
            long left = timed && mayLeave && !leaves ? waitNanos - (now - begun) : LOOK_NANOS;
            try {
                return step.get(Math.max(1, Math.min(left, LOOK_NANOS)), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                now = session.now();
            } catch (InterruptedException e) {
                interrupted = true;
                if (mayLeave && !leaves) {
                    leftByInterrupt = true;
                    leave();
                }
                continue;
            } catch (ExecutionException e) {
                throw barrier.refusal(e.getCause());
            }
            checkOutage(step, now, !mayLeave || leaves);
            if (timed && mayLeave && !leaves && now - begun >= waitNanos) {
                timedOut = true;
                leave();
            }
        }
    }

    private boolean arrivalLeaves() {
        return leftByInterrupt || timedOut;
    }

    private void leave() {
        toldNanos = session.now();
        told = barrier.leave(arrival);
    }

    private void checkOutage(CompletableFuture<Fate> step, long now, boolean impatient) {
        long commandNanos = TimeUnit.MILLISECONDS.toNanos(session.settings().commandTimeoutMillis());
        boolean silent = told == null || !told.isDone();
        boolean over = impatient && (timed || leftByInterrupt) && silent && now - toldNanos >= commandNanos;
        if ((over || session.outage().isTooLong()) && !step.isDone()) {
            barrier.abandon(arrival);
            if (!step.isDone()) {
                throw barrier.unavailable();
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
                throw new TimeoutException("barrier " + Keys.quoted(barrier.name()) + " has not tripped in time");
            }
            case CLOSED -> throw closed();
            case REFUSED -> throw barrier.refusal(arrival.failure);
            default -> throw new BrokenBarrierException("barrier " + Keys.quoted(barrier.name()) + " is broken");
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
