package dev.interlock.internal.barrier;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.RedisUnavailableException;
import dev.interlock.internal.barrier.Arrival.Fate;
import dev.interlock.internal.barrier.Standing.State;
import dev.interlock.internal.redis.Keys;
import dev.interlock.internal.session.RedisSession;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The remote half of a barrier: what threads say, and ask, of the {@link Attendance}. */
public final class ScriptBarrier extends Attendance {
    private final Consumer<ScriptBarrier> whenLeft;

    /**
     * Creates the remote half.
     *
     * @param whenLeft is told when the session is no member any more
     */
    public ScriptBarrier(RedisSession session, String name, int parties, Consumer<ScriptBarrier> whenLeft) {
        super(session, name, parties);
        this.whenLeft = whenLeft;
    }

    @Override
    void ended() {
        whenLeft.accept(this);
    }

    /** Returns the name, without the session's namespace. */
    public String name() {
        return name;
    }

    /** Returns how many arrivals trip a generation. */
    public int parties() {
        return parties;
    }

    /** An object over this one has been made. Returns false if this can't be used any more. */
    public boolean attach() {
        mutex.lock();
        try {
            if (left) {
                return false;
            }
            holders++;
            return true;
        } finally {
            mutex.unlock();
        }
    }

    /** Returns whether this can't be used any more. */
    public boolean hasLeft() {
        mutex.lock();
        try {
            return left;
        } finally {
            mutex.unlock();
        }
    }

    /** If nobody refers to an object over this one, returns when Redis knows. */
    public void leaveIfUnheld() {
        CompletableFuture<Void> answer;
        mutex.lock();
        try {
            session.ensureOpen();
            if (left || !isUnused()) {
                return;
            }
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
    }

    /** Nobody refers to such an object any more. */
    public void detach() {
        mutex.lock();
        try {
            holders--;
            leaveIfUnused();
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Returns when Redis knows this session to be a member.
     *
     * @throws IllegalArgumentException if the barrier has other parties
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public void join() {
        CompletableFuture<Void> answer;
        mutex.lock();
        try {
            session.ensureOpen();
            if (member) {
                return;
            }
            otherParties = 0;
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
        mutex.lock();
        try {
            if (otherParties > 0) {
                throw new IllegalArgumentException("barrier " + Keys.quoted(name) + " is one of " + otherParties
                        + " parties; it can't be one of " + parties + " at the same time");
            }
        } finally {
            mutex.unlock();
        }
    }

    /** Returns whether the current generation is broken. A round trip. */
    public boolean isBroken() {
        hear(ask());
        mutex.lock();
        try {
            return state == State.BROKEN;
        } finally {
            mutex.unlock();
        }
    }

    /** Returns how many threads of all sessions have arrived in the current generation. A round trip. */
    public int arrived() {
        hear(ask());
        mutex.lock();
        try {
            return arrived;
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Waits until all parties have arrived.
     *
     * @param action what the last one has to run, or null
     * @param timed whether the wait ends after {@code waitNanos}
     * @return the index of arrival: 0 for the last one
     * @throws RedisUnavailableException if Redis has been silent for too long; the session goes on trying to break the
     *     generation
     */
    public int await(@Nullable Runnable action, boolean timed, long waitNanos)
            throws InterruptedException, BrokenBarrierException, TimeoutException {
        return new BarrierSync(this, action, timed, waitNanos).pass();
    }

    private CompletableFuture<Void> ask() {
        mutex.lock();
        try {
            session.ensureOpen();
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    private void hear(CompletableFuture<Void> answer) {
        try {
            Uninterruptibles.getUninterruptibly(
                    answer, session.settings().commandTimeoutMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw refusal(e.getCause());
        } catch (TimeoutException e) {
            session.ensureOpen();
            throw unavailable();
        }
    }

    RedisSession session() {
        return session;
    }

    /** A thread has come. */
    void arrive(Arrival arrival) {
        come(arrival, arrivals);
    }

    /** A thread has come that was interrupted before. */
    void comeToBreak(Arrival arrival) {
        arrival.leaves = true;
        come(arrival, breakers);
    }

    private void come(Arrival arrival, List<Arrival> to) {
        mutex.lock();
        try {
            session.ensureOpen();
            arrival.cameAfter = lastVersion();
            to.add(arrival);
            if (arrival.leaves) {
                leavers.add(arrival);
            }
            tell();
            // It may have been closed before it could see this.
            if (session.isClosed()) {
                arrival.end(Fate.CLOSED);
            }
        } finally {
            mutex.unlock();
        }
    }

    /** A thread wants its generation broken, unless it has tripped. The result completes when Redis has been told. */
    CompletableFuture<Void> leave(Arrival arrival) {
        mutex.lock();
        try {
            if (!arrival.leaves) {
                arrival.leaves = true;
                leavers.add(arrival);
            }
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    /** A thread goes without knowing how its generation ends. The session goes on trying to break that. */
    void abandon(Arrival arrival) {
        mutex.lock();
        try {
            if (arrival.hasEnded()) {
                return;
            }
            arrival.abandoned = true;
            if (!arrival.leaves) {
                arrival.leaves = true;
                leavers.add(arrival);
            }
            if (arrival == actor && acted == Wish.NONE) {
                acted = Wish.FAILED;
            }
            tell();
        } finally {
            mutex.unlock();
        }
    }

    /** The thread that had to has run the action. The result completes when Redis has been told. */
    CompletableFuture<Void> acted(Arrival arrival, boolean completed) {
        mutex.lock();
        try {
            if (arrival == actor && !arrival.hasEnded()) {
                acted = completed ? Wish.ACTED : Wish.FAILED;
            }
            return tellAndHear();
        } finally {
            mutex.unlock();
        }
    }

    /**
     * Breaks the current generation if threads have arrived in it, and begins another one. Waits until the action of
     * one that trips has been run, unless it is that which calls.
     *
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    public void reset() {
        CompletableFuture<Void> answer;
        CompletableFuture<Fate> done;
        mutex.lock();
        try {
            session.ensureOpen();
            Arrival acting = actor;
            if (acting != null && acting.thread == Thread.currentThread() && !acting.hasEnded()) {
                acting.renewed = true;
                acted = Wish.RENEW;
                done = acting.end;
            } else {
                resets = session.nextSequence();
                done = new CompletableFuture<>();
                pendingResets.add(new Reset(resets, done));
            }
            answer = tellAndHear();
        } finally {
            mutex.unlock();
        }
        hear(answer);
        awaitReset(done);
    }

    private void awaitReset(CompletableFuture<Fate> done) {
        while (true) {
            try {
                if (Uninterruptibles.getUninterruptibly(done, PULSE_MILLIS, TimeUnit.MILLISECONDS) == Fate.REFUSED) {
                    throw refusal(null);
                }
                session.ensureOpen();
                return;
            } catch (TimeoutException e) {
                session.ensureOpen();
                if (session.outage().isTooLong()) {
                    throw unavailable();
                }
            } catch (ExecutionException e) {
                throw refusal(e.getCause());
            }
        }
    }

    @Override
    public String toString() {
        mutex.lock();
        try {
            return "generation " + generation + ", " + state + ", " + arrivals.size() + " threads of this session";
        } finally {
            mutex.unlock();
        }
    }
}
