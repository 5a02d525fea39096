package dev.interlock;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.DropIn;
import dev.interlock.internal.barrier.ScriptBarrier;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link CyclicBarrier} across JVMs: threads of all JVMs that use the same Redis wait for each other.
 *
 * <p>It <em>is</em> a {@code CyclicBarrier}: a fixed number of parties, threads of any JVMs, {@link #await} each other.
 * When the last party arrives the generation <em>trips</em>, all threads go on, and the next generation begins.
 * Generations never mix, whatever messages are lost or delayed. If the barrier was obtained with an action, the last
 * thread to arrive runs it before any other thread goes on. It runs the action of its own JVM, so all JVMs should state
 * the same.
 *
 * <pre>{@code
 * DistributedCyclicBarrier barrier = interlock.cyclicBarrier("simulation", 3, store::publishStep);
 * for (Step step : steps) {
 *     compute(step);
 *     barrier.await();   // until all three JVMs have computed this step
 * }
 * }</pre>
 *
 * <p><b>How it differs from its superclass.</b> A session that has obtained the barrier is a <em>member</em> of it for
 * as long as the object is reachable there. If a member dies (its lease expires because its JVM was killed or paused
 * for too long), the current generation breaks for all, whether threads of that member had arrived in it or not: no
 * thread waits for a JVM that is gone. Closing a session breaks the generation only if threads of that session wait. A
 * barrier whose data Redis has lost is broken. A broken barrier stays broken until {@link #reset()}, as in the JDK. A
 * barrier without members is forgotten.
 *
 * <p>While Redis is silent, no session knows whether a generation has tripped. A thread whose wait reaches its limit
 * then throws {@link RedisUnavailableException}, and its session keeps trying to break the generation.
 *
 * <p>While the action runs, time-outs, interrupts and {@link #reset()} take effect only afterwards, as in the JDK; the
 * death of the JVM that runs it breaks the generation. The action must not await the barrier itself.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, actions before {@code await()} happen-before those of the barrier action
 * if it runs there, and before those that follow the return of other threads from the same generation. JVMs share no
 * memory: for the stores that they share, this barrier gives the order of arrivals and returns.
 */
public final class DistributedCyclicBarrier extends CyclicBarrier {
    private static final Cleaner CLEANER = Cleaner.create();

    private final ScriptBarrier remote;
    private final @Nullable Runnable action;
    private final Cleaner.Cleanable membership;
    private boolean handedOut;
    private boolean discarded;

    /** The remote half must not refer to this object: its membership ends when this object is unreachable. */
    DistributedCyclicBarrier(ScriptBarrier remote, @Nullable Runnable action) {
        super(remote.parties());
        this.remote = remote;
        this.action = action;
        this.membership = CLEANER.register(this, remote::detach);
    }

    @Nullable
    Runnable action() {
        return action;
    }

    /** Ends the membership unless this has been handed out to a caller. Returns whether it has ended it. */
    synchronized boolean discard() {
        if (handedOut) {
            return false;
        }
        discarded = true;
        membership.clean();
        return true;
    }

    /** Marks this as handed out to a caller. Returns false if it has been discarded. */
    synchronized boolean handOut() {
        handedOut = !discarded;
        return handedOut;
    }

    void join() {
        try {
            remote.join();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Returns the name of this barrier, without the session's namespace. */
    public String getName() {
        return remote.name();
    }

    /**
     * Waits until all parties have arrived.
     *
     * @return the index of arrival: {@code getParties() - 1} for the first, 0 for the last
     * @throws InterruptedException if this thread was interrupted, before or while it waited, and so broke the
     *     generation
     * @throws BrokenBarrierException if the generation was broken: another thread was interrupted or ran out of time,
     *     the barrier was reset, its action failed, or a member died
     * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}; or, after an
     *     interrupt, for one command time-out, and then with the interrupt flag set. The generation may have tripped,
     *     or may break later
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public int await() throws InterruptedException, BrokenBarrierException {
        try {
            return remote.await(action, false, 0);
        } catch (TimeoutException e) {
            throw new AssertionError(e);
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * Waits until all parties have arrived, for a limited time. A timeout of zero or less breaks the generation unless
     * this is its last thread, as in the JDK. A thread that runs out of time asks Redis to break the generation, and
     * waits for the answer.
     *
     * @param timeout the longest wait
     * @param unit its unit
     * @return as {@link #await()}
     * @throws InterruptedException as {@link #await()}
     * @throws BrokenBarrierException as {@link #await()}
     * @throws TimeoutException if the thread ran out of time first, and so broke the generation
     * @throws RedisUnavailableException if Redis hasn't answered one command time-out after the end of the wait; the
     *     generation may have tripped, or may break later
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public int await(long timeout, TimeUnit unit)
            throws InterruptedException, BrokenBarrierException, TimeoutException {
        try {
            return remote.await(action, true, unit.toNanos(timeout));
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /**
     * As {@link #await(long, TimeUnit)}.
     *
     * @param timeout the longest wait; more than 292 years are as many
     * @return as {@link #await()}
     * @throws InterruptedException as {@link #await()}
     * @throws BrokenBarrierException as {@link #await()}
     * @throws TimeoutException as {@link #await(long, TimeUnit)}
     * @throws RedisUnavailableException as {@link #await(long, TimeUnit)}
     * @throws IllegalStateException if the session is closed
     */
    public int await(Duration timeout) throws InterruptedException, BrokenBarrierException, TimeoutException {
        return await(TimeUnit.NANOSECONDS.convert(requireNonNull(timeout, "timeout")), TimeUnit.NANOSECONDS);
    }

    /** Returns the number of threads that have to arrive. No round trip. */
    @Override
    public int getParties() {
        return remote.parties();
    }

    /**
     * Returns the number of threads of all JVMs that have arrived in the current generation. A round trip.
     *
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public int getNumberWaiting() {
        return asMember(remote::arrived);
    }

    /**
     * Returns whether the current generation is broken. A round trip.
     *
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public boolean isBroken() {
        return asMember(remote::isBroken);
    }

    /**
     * Breaks the current generation if threads wait in it, and begins a new one, which isn't broken. While the action
     * runs, waits for its end first. The action itself may reset the barrier, which breaks its own generation.
     *
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out; the session keeps trying
     * @throws IllegalStateException if the session is closed
     */
    @Override
    public void reset() {
        try {
            remote.reset();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    // The membership ends when this object is unreachable, so it has to stay reachable until the answer is there.
    private <T> T asMember(Supplier<T> question) {
        try {
            return question.get();
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    /** Returns the name, the parties, and what this session knows of the current generation. No round trip. */
    @Override
    public String toString() {
        return DropIn.describe(getClass(), this, getName()) + "[" + getParties() + " parties, " + remote + "]";
    }
}
