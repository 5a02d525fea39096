package dev.interlock;

import dev.interlock.ops.Deadlock;
import dev.interlock.ratelimit.OutagePolicy;

/**
 * Receives events of the synchronizers of a session, for metrics and alarms. All durations are in nanoseconds.
 *
 * <p>The thread that locks, unlocks or asks calls {@link #acquired}, {@link #released}, {@link #handedOff} and
 * {@link #decidedWithoutRedis} (after an asynchronous call, a thread of the common pool does); these methods have to be
 * fast. A thread of the session that does nothing else calls the other methods, and {@link #released} if the session
 * gives a name up by itself, such as a retained one. Exceptions of a listener are logged and otherwise ignored.
 */
public interface SyncListener {
    /** Ignores all events, at no cost. */
    SyncListener NONE = new SyncListener() {};

    /**
     * A thread has acquired a lock. Re-entries don't count.
     *
     * @param name the name of the lock
     * @param waitedNanos how long the thread waited, locally and for Redis
     * @param local true if the session owned the name already, so that no round trip was needed
     */
    default void acquired(String name, long waitedNanos, boolean local) {}

    /**
     * The session gives the name up in Redis.
     *
     * @param name the name of the lock
     * @param tenureNanos how long the session had owned it
     */
    default void released(String name, long tenureNanos) {}

    /**
     * A thread has unlocked, and the session keeps the name for the next of its threads.
     *
     * @param name the name of the lock
     */
    default void handedOff(String name) {}

    /**
     * A lease was renewed.
     *
     * @param name the name of the lock
     * @param validNanos how long the lease is valid from now on without another renewal
     */
    default void renewed(String name, long validNanos) {}

    /**
     * A renewal got no answer, or an error. The session repeats it until the lease expires.
     *
     * @param name the name of the lock
     * @param validNanos how long the lease is still valid
     * @param cause the failure
     */
    default void renewalFailed(String name, long validNanos, Throwable cause) {}

    /**
     * An untimed {@code tryLock()} was refused because the session that owns the name has not said within 250 ms
     * whether one of its threads is inside: its JVM stands still, or its messages get lost.
     *
     * @param name the name of the lock
     * @param waitedNanos how long the thread waited for that
     */
    default void unanswered(String name, long waitedNanos) {}

    /**
     * A lock has been lost while a thread held it.
     *
     * @param loss which lock, and why
     */
    default void lost(LeaseLostException loss) {}

    /**
     * A lock had been lost, and its thread has unlocked without hearing of that: Redis has told only by its answer to
     * the release. Another thread may have held the lock at the same time.
     *
     * @param loss which lock, and the fencing token of the acquisition
     * @see InterlockBuilder#confirmedUnlock
     */
    default void lostUnnoticed(LeaseLostException loss) {}

    /**
     * Threads wait for each other, as a session that {@linkplain InterlockBuilder#deadlockWatch watches} has found.
     * Called once for each such cycle.
     *
     * @param deadlock which threads, and for what
     */
    default void deadlocked(Deadlock deadlock) {}

    /**
     * A rate limiter has applied its policy to a request because Redis didn't answer. Called for each such request.
     *
     * @param name the name of the limiter
     * @param permits the requested permits
     * @param policy the policy that it applied
     */
    default void decidedWithoutRedis(String name, long permits, OutagePolicy policy) {}

    /**
     * Redis has stopped answering. Called once per outage.
     *
     * @param cause the first failure
     */
    default void redisUnreachable(Throwable cause) {}

    /**
     * Redis answers again.
     *
     * @param outageNanos how long the outage lasted
     */
    default void redisReachable(long outageNanos) {}
}
