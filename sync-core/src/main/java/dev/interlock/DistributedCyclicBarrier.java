package dev.interlock;

import dev.interlock.internal.DropIn;
import dev.interlock.internal.barrier.ScriptBarrier;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A {@link CyclicBarrier} at which threads of all JVMs that use the same Redis wait for each other.
 *
 * <p>It <em>is</em> a {@code CyclicBarrier}: a fixed number of parties, threads of any JVMs, {@link #await} each other;
 * when the last one has come the generation <em>trips</em>, all go on, and the next generation begins. No generation
 * mixes with the next, whatever messages are lost or delayed. If the barrier was obtained with an action, the last
 * thread to arrive runs it before any of the others goes on: it is the action of that thread's JVM that is run, so all
 * JVMs should state the same.
 *
 * <pre>{@code
 * DistributedCyclicBarrier barrier = interlock.cyclicBarrier("simulation", 3, store::publishStep);
 * for (Step step : steps) {
 *     compute(step);
 *     barrier.await();   // until all three JVMs have computed this step
 * }
 * }</pre>
 *
 * <p><b>How it differs from its superclass.</b> A session that has obtained the barrier is a <em>member</em> of it, for
 * as long as anybody there refers to the object. If a member dies (its lease is over, since its JVM was killed or
 * paused for too long) the current generation is broken for all, whether threads of that member had arrived in it or
 * not: nobody waits for a JVM that doesn't come any more. A session that is closed breaks it only if its threads wait.
 * A barrier whose data Redis has lost is broken. A broken barrier remains so until {@link #reset()}, as in the JDK; one
 * that has no member any more is forgotten.
 *
 * <p>While Redis is silent nobody can know whether a generation has tripped. A thread that has waited out its patience
 * throws {@link RedisUnavailableException} then, and its session goes on trying to break the generation.
 *
 * <p>While the action is being run, time-outs, interrupts and {@link #reset()} take effect only afterwards, as in the
 * JDK; the death of the JVM that runs it breaks the generation. The action must not await the barrier itself.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, actions before {@code await()} happen-before those of the barrier action
 * if that is run there, and before those that follow the return of other threads from the same generation. Across JVMs
 * there is no shared memory: what they share is in stores of their own, and it is the order of arrivals and returns
 * that this barrier gives them.
 */
public final class DistributedCyclicBarrier extends CyclicBarrier {
    private static final Cleaner CLEANER = Cleaner.create();

    private final ScriptBarrier remote;
    private final @Nullable Runnable action;
    private final Cleaner.Cleanable membership;
    private boolean handedOut;
    private boolean discarded;

    /** The remote half must not refer to this object: it ends its membership when nobody else does. */
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

    /** Ends what obtaining this has begun, unless somebody has got it. Returns whether nobody has. */
    synchronized boolean discard() {
        if (handedOut) {
            return false;
        }
        discarded = true;
        membership.clean();
        return true;
    }

    /** Says that somebody gets this. Returns false if it has been discarded. */
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
     * @throws InterruptedException if this thread was interrupted, before or while it waited, and so has broken the
     *     generation
     * @throws BrokenBarrierException if the generation was broken: another thread was interrupted or ran out of time,
     *     the barrier was reset, its action failed, or a member has died
     * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}; or, after an
     *     interrupt, for one command time-out, and then with the interrupt flag set. The others may have gone on, or
     *     may be broken later
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
     * this is its last thread, as in the JDK. When its time is over a thread waits for the answer to what it asks Redis
     * then.
     *
     * @param timeout the longest wait
     * @param unit its unit
     * @return as {@link #await()}
     * @throws InterruptedException as {@link #await()}
     * @throws BrokenBarrierException as {@link #await()}
     * @throws TimeoutException if the time was over first, and so has broken the generation
     * @throws RedisUnavailableException if Redis has not answered one command time-out after the time was over; the
     *     generation may have tripped, or may be broken later
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

    /** Returns how many threads have to arrive. No round trip. */
    @Override
    public int getParties() {
        return remote.parties();
    }

    /**
     * Returns how many threads of all JVMs have arrived in the current generation. A round trip.
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
     * Breaks the current generation if threads wait in it, and begins another one, which is not broken. While the
     * action is being run, waits for its end first; the action itself may reset the barrier, and then breaks the
     * generation it is run for.
     *
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out; the session goes on trying
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

    /** Returns the name, the parties, and what this session knows of the current generation without a round trip. */
    @Override
    public String toString() {
        return DropIn.describe(getClass(), this, getName()) + "[" + getParties() + " parties, " + remote + "]";
    }
}
