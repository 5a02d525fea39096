package dev.interlock;

import static java.util.Objects.requireNonNull;

import dev.interlock.internal.latch.LatchSync;
import dev.interlock.internal.latch.LocalLatch;
import dev.interlock.internal.latch.RemoteLatch;
import dev.interlock.internal.session.Session;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * A {@link CountDownLatch} across JVMs: threads of any JVM wait until threads of any JVM have counted down as often as
 * was agreed on.
 *
 * <p>It <em>is</em> a {@code CountDownLatch}: the threads of this JVM wait in the superclass. Redis has the count, and
 * tells each JVM in which threads wait once, however many there are, when it has reached zero. The first JVM to name a
 * latch sets its count, and those that come later join it; they have to name the same count. A latch that was opened
 * stays open for its retention time (a day, if nothing else was said), for latecomers too: they pass at once. So a name
 * serves once. When the retention time is over it is free for a new latch; objects that have been obtained before
 * remain open.
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
 * <p><b>How it differs from its superclass.</b> What a JVM has counted down stays counted, even if that JVM dies, and
 * counts once, even if its command arrives twice. A latch that Redis has lost (its data is gone, or somebody deleted
 * it) is lost for all that have joined it: {@code await}, {@code countDown} and {@code getCount} throw
 * {@link IllegalStateException} then, to waiting threads as well, and so they do if the session is closed; unless the
 * latch is known to be open. A latch that nobody uses for seven days before it is open is forgotten, too. When Redis
 * doesn't answer, {@code await} and {@code getCount} throw {@link RedisUnavailableException}, while {@code countDown}
 * is repeated in the background.
 *
 * <p><b>Memory consistency.</b> Inside a JVM, actions before a {@code countDown()} happen-before those after a
 * successful return from a corresponding {@code await()}, as for any {@code CountDownLatch}. Across JVMs there is no
 * shared memory: what they share is in stores of their own, and what was written there before {@code countDown()} is
 * there when {@code await()} returns.
 */
public final class DistributedCountDownLatch extends CountDownLatch {
    private final RemoteLatch remote;
    private final LatchSync sync;

    DistributedCountDownLatch(Session session, Function<? super LocalLatch, ? extends RemoteLatch> remote) {
        // As long as this is 1 nobody passes; the count itself is in Redis.
        super(1);
        LocalLatch local = new Local();
        this.remote = remote.apply(local);
        this.sync = new LatchSync(session, local, this.remote);
    }

    /** Joins the latch of that count; returns whether that is still the latch of this name. */
    boolean join(int count) {
        return remote.join(count);
    }

    /** Returns the name of this latch, without the session's namespace. */
    public String getName() {
        return remote.name();
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
     * Waits until the count is zero, for so long at most. A time-out of zero or less asks Redis once, and waits for the
     * answer one command time-out at most; the first answer is given at least 250 ms.
     *
     * @param timeout the longest wait
     * @param unit its unit
     * @return whether the count is zero; false only if Redis has said within the wait that it is not
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws IllegalStateException as {@link #await()}
     * @throws RedisUnavailableException if Redis has not answered within the wait
     */
    @Override
    public boolean await(long timeout, TimeUnit unit) throws InterruptedException {
        return sync.await(requireNonNull(unit, "unit").toNanos(timeout));
    }

    /**
     * Counts down by one, and opens the latch if that makes zero. Does nothing if the latch is open. Waits for the
     * confirmation by Redis for one command time-out at most. If there is none by then, the count-down is repeated in
     * the background until it is confirmed, which counts it once; {@link Interlock#close()} waits for that, one command
     * time-out at most. An interrupt does not end the wait; the thread's interrupt flag is set on return.
     *
     * <p>Of an {@linkplain Interlock#adapt(org.redisson.api.RCountDownLatch) adapted} latch nothing is repeated, since
     * Redisson would count it twice.
     *
     * @throws IllegalStateException as {@link #await()}. On a lost latch it has not been counted; if the session was
     *     closed while this waited for the confirmation, it may have been
     * @throws RedisUnavailableException only from an adapted latch: if there is no confirmation; it may have been
     *     counted or not
     */
    @Override
    public void countDown() {
        remote.countDown();
    }

    /**
     * Asks Redis for the count; needs no round trip if the latch is known to be open.
     *
     * @return the count, of all JVMs
     * @throws IllegalStateException as {@link #await()}
     * @throws RedisUnavailableException if Redis doesn't answer within one command time-out
     */
    @Override
    public long getCount() {
        return remote.count();
    }

    /**
     * As in the superclass, with the count as it was last heard of, or {@code unknown} if it never was; asks nobody.
     */
    @Override
    public String toString() {
        long count = remote.knownCount();
        return getClass().getName() + "@" + Integer.toHexString(System.identityHashCode(this)) + "[Count = "
                + (count == RemoteLatch.UNKNOWN ? "unknown" : count) + "]";
    }

    /** The superclass. */
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
