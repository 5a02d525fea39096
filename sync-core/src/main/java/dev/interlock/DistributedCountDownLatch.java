package dev.interlock;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.latch.LatchState;
import dev.interlock.internal.latch.LatchSync;
import dev.interlock.internal.latch.LocalLatch;
import dev.interlock.internal.latch.RemoteLatch;
import dev.interlock.internal.session.Session;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A {@link CountDownLatch} across JVMs: threads of any JVM wait until threads of any JVM have counted down to zero.
 *
 * <p>It <em>is</em> a {@code CountDownLatch}: the threads of this JVM wait in the superclass. Redis keeps the count.
 * When it reaches zero, Redis sends one message to each JVM that waits, for all of its threads. The first JVM to obtain
 * a latch sets its count; the JVMs that join it later have to state the same count. An opened latch stays open for its
 * retention time, one day by default, and latecomers pass at once. So a name serves once. When the retention time is
 * over, the name is free for a new latch; objects obtained before remain open.
 *
 * <pre>{@code
 * DistributedCountDownLatch done = interlock.countDownLatch("import:2024-05-01", 3);
 * // in each of three JVMs:
 * importPart();
 * done.countDown();
 * // in any JVM:
 * if (!done.await(10, TimeUnit.MINUTES)) {
 *     throw new IllegalStateException(done.getCount() + " parts are missing");
 * }
 * }</pre>
 *
 * <p><b>How it differs from its superclass.</b> A count-down stays counted even if its JVM dies, and counts once even
 * if its command arrives twice. If Redis loses the latch (its data is gone, or its key was deleted) it is lost for all
 * JVMs that have joined it: {@code await}, {@code countDown} and {@code getCount} then throw
 * {@link IllegalStateException}, in waiting threads as well, unless this JVM knows that the latch is open. They do the
 * same if the session is closed. A latch that isn't open is also forgotten after seven days without use. When Redis
 * doesn't answer, {@code await} and {@code getCount} throw {@link RedisUnavailableException}, while the session repeats
 * {@code countDown} in the background.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, actions before a {@code countDown()} happen-before those after a
 * successful return from a corresponding {@code await()}, as for any {@code CountDownLatch}. JVMs share no memory: what
 * was written to a shared store before {@code countDown()} is there when {@code await()} returns.
 */
public final class DistributedCountDownLatch extends CountDownLatch {
    private final RemoteLatch remote;
    private final LatchSync sync;

    DistributedCountDownLatch(Session session, Function<? super LocalLatch, ? extends RemoteLatch> remote) {
        // The superclass counts 1 until the latch opens; the real count is in Redis.
        super(1);
        LocalLatch local = new Local();
        this.remote = remote.apply(local);
        this.sync = new LatchSync(session, local, this.remote);
    }

    /** Joins the latch, which has that count. Returns whether this is still the latch of its name. */
    boolean join(int count) {
        return sync.join(count);
    }

    /** Returns the name of this latch, without the session's namespace. */
    public String getName() {
        return remote.state().name();
    }

    /**
     * Waits until the count is zero. Returns at once if the latch is known to be open.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws IllegalStateException if the latch is lost or the session closed, also while waiting
     * @throws RedisUnavailableException if Redis has been silent for the session's {@code redisTimeout}
     */
    @Override
    public void await() throws InterruptedException {
        sync.await(LatchSync.FOREVER);
    }

    /**
     * Waits until the count is zero, for a limited time. A time-out of zero or less asks Redis once, and waits for the
     * answer one command time-out at most. The wait for the first answer lasts at least 250 ms.
     *
     * @param timeout the longest wait
     * @param unit its unit
     * @return whether the count is zero; false only if Redis has answered within the wait that it isn't
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws IllegalStateException as {@link #await()}
     * @throws RedisUnavailableException if Redis has not answered within the wait
     */
    @Override
    public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
        return sync.await(requireNonNull(unit, "unit").toNanos(timeout));
    }

    /**
     * As {@link #await(long, TimeUnit)}.
     *
     * @param timeout the longest wait; more than 292 years are as many
     * @return whether the count is zero; false only if Redis has answered within the wait that it isn't
     * @throws InterruptedException as {@link #await()}
     * @throws IllegalStateException as {@link #await()}
     * @throws RedisUnavailableException as {@link #await(long, TimeUnit)}
     */
    public boolean await(Duration timeout) throws InterruptedException {
        return sync.await(TimeUnit.NANOSECONDS.convert(requireNonNull(timeout, "timeout")));
    }

    /**
     * Counts down by one, and opens the latch at zero. Does nothing if the latch is open. Waits for the confirmation by
     * Redis one command time-out at most. After that, the session repeats the count-down in the background until Redis
     * confirms it, and Redis counts it once; {@link Interlock#close()} waits for that one command time-out at most. An
     * interrupt does not end the wait; the thread's interrupt flag is set on return.
     *
     * <p>An {@linkplain Interlock#adapt(org.redisson.api.RCountDownLatch) adapted} latch repeats nothing, since
     * Redisson would count it twice.
     *
     * @throws IllegalStateException as {@link #await()}. A lost latch has not counted it; if the session was closed
     *     during the wait for the confirmation, it may be counted or not
     * @throws RedisUnavailableException only from an adapted latch: if Redis doesn't confirm; it may be counted or not
     */
    @Override
    public void countDown() {
        remote.countDown();
    }

    /**
     * Asks Redis for the count. A round trip, unless the latch is known to be open.
     *
     * @return the count, of all JVMs
     * @throws IllegalStateException as {@link #await()}
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    @Override
    public long getCount() {
        return sync.count();
    }

    /**
     * Returns what the superclass does, with the count that Redis last reported, or {@code unknown} if it never did. No
     * round trip.
     */
    @Override
    public String toString() {
        long count = remote.state().knownCount();
        return getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(this)) + "[Count = "
                + (count == LatchState.UNKNOWN ? "unknown" : count) + "]";
    }

    /** The local half: the superclass. */
    private final class Local implements LocalLatch {
        @Override
        public boolean await(long nanos) throws InterruptedException {
            return DistributedCountDownLatch.super.await(nanos, TimeUnit.NANOSECONDS);
        }

        @Override
        public void open() {
            DistributedCountDownLatch.super.countDown();
        }
    }
}
