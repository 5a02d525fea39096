package dev.interlock;

import dev.interlock.ratelimit.OutagePolicy;

/**
 * Hears what happens to the synchronizers of a session: for metrics and alarms. All durations are nanoseconds.
 *
 * <p>{@link #acquired}, {@link #released}, {@link #handedOff} and {@link #decidedWithoutRedis} are called by the thread
 * that locks, unlocks or asks (after an asynchronous call by one of the common pool), and have to be fast. The others
 * are called by a thread of the session that serves nothing else, and so is {@link #released} if the session gives a
 * name up by itself, such as a retained one. What a listener throws is logged and otherwise ignored.
 */
public interface SyncListener {
    /** Hears nothing, and costs nothing. */
    SyncListener NONE = new SyncListener() {};

    /**
     * A thread has acquired a lock (not: re-entered one that it held).
     *
     * @param name the name of the lock
     * @param waitedNanos how long the thread waited, locally and for Redis
     * @param local true if the session owned the name already, so that no round trip was needed
     */
    default void acquired(String name, long waitedNanos, boolean local) {}

    /**
     * The session has given the name up in Redis.
     *
     * @param name the name of the lock
     * @param tenureNanos for how long the session had owned it
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
     * @param validNanos for how long the lease holds from now on without another renewal
     */
    default void renewed(String name, long validNanos) {}

    /**
     * A renewal got no answer, or an error. It is repeated until the lease is over.
     *
     * @param name the name of the lock
     * @param validNanos for how long the lease still holds
     * @param cause the failure
     */
    default void renewalFailed(String name, long validNanos, Throwable cause) {}

    /**
     * A lock has been lost while a thread held it.
     *
     * @param loss which one, and why
     */
    default void lost(LeaseLostException loss) {}

    /**
     * A rate limiter has dealt with a request by its policy since Redis didn't answer. Called for each such request.
     *
     * @param name the name of the limiter
     * @param permits how many were asked for
     * @param policy what was done
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
     * @param outageNanos how long it did not
     */
    default void redisReachable(long outageNanos) {}
}
