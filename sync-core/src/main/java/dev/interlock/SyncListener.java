package dev.interlock;

import dev.interlock.election.Term;
import dev.interlock.ops.Deadlock;
import dev.interlock.ratelimit.OutagePolicy;

/**
 * Receives events of the synchronizers of a session, for metrics and alarms. All durations are in nanoseconds, 0 or
 * more.
 *
 * <p>The thread that locks, unlocks or asks calls {@link #waiting}, {@link #waited}, {@link #acquired}, {@link #held},
 * {@link #released}, {@link #handedOff}, {@link #permitsAsked}, {@link #decided} and {@link #decidedWithoutRedis}
 * (after an asynchronous call, a thread of the common pool or of the Redis client does); these methods have to be fast,
 * and most of them are called while the thread has the lock. A thread of the session that does nothing else calls the
 * other methods, and {@link #released} if the session gives a name up by itself, such as a retained one. While a
 * listener keeps that thread busy, a thousand events wait for it; then {@link #renewed}, {@link #renewalFailed},
 * {@link #unanswered} and such a {@link #released} are dropped, and the log says so. Losses, outages and deadlocks are
 * never dropped. Exceptions of a listener are logged and otherwise ignored.
 *
 * <p>A session may have several listeners ({@link Interlock#addListener}). Each {@link #waiting} is followed by one
 * {@link #waited}, told to the same listeners, so that their difference is the number of threads that wait just now.
 */
public interface SyncListener {
    /** Ignores all events, at no cost. */
    SyncListener NONE = new SyncListener() {};

    /**
     * Returns whether this wants {@link #acquired}, {@link #released} and {@link #handedOff}; asked once, when it
     * becomes a listener. One that does without them costs the threads next to nothing that hand a lock to each other.
     *
     * @return by default true
     */
    default boolean hearsEachAcquisition() {
        return true;
    }

    /** What becomes of an attempt to acquire. */
    enum Outcome {
        /** The thread has got what it asked for. */
        ACQUIRED,
        /** It hasn't, within the time that it would wait: none at all, for an untimed {@code tryLock()}. */
        TIMEOUT,
        /** An interrupt has ended the attempt. */
        INTERRUPTED,
        /** Another exception has, such as {@link RedisUnavailableException}. */
        FAILED
    }

    /**
     * A thread begins to wait for a lock: for another thread of its JVM, or for Redis. A thread that gets the lock at
     * once doesn't wait, nor does one that re-enters it or comes back from a condition.
     *
     * @param name the name of the lock
     * @param kind {@code lock}, {@code hold}, {@code fair lock}, {@code quorum lock}, {@code adapted lock},
     *     {@code write lock} or {@code read lock}
     */
    default void waiting(String name, String kind) {}

    /**
     * A thread no longer waits for a lock.
     *
     * @param name the name of the lock
     * @param kind as that of {@link #waiting}
     * @param outcome whether the thread has the lock, and if not, why
     * @param local true if Redis wasn't asked: the thread waited for others of its JVM only
     * @param waitedNanos how long the thread waited
     */
    default void waited(String name, String kind, Outcome outcome, boolean local, long waitedNanos) {}

    /**
     * A thread has acquired a lock. Re-entries don't count.
     *
     * @param name the name of the lock
     * @param waitedNanos how long the thread waited, locally and for Redis; 0 if it got the lock at once
     * @param local true if the session owned the name already, so that no round trip was needed
     */
    default void acquired(String name, long waitedNanos, boolean local) {}

    /**
     * Threads have held a lock, one after the other, until the outermost {@code unlock()} or a wait for a condition.
     * One hold is told at its end, unless the last telling is less than a millisecond ago: then it is told together
     * with those that follow, or when the session gives the name up. Threads may hold a lock several million times a
     * second.
     *
     * <p>Holds of read locks aren't told, since it would cost each reader a note of when it has begun.
     *
     * @param name the name of the lock
     * @param holds how many times, 1 or more
     * @param heldNanos for how long in all
     */
    default void held(String name, long holds, long heldNanos) {}

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
     * A lock has been lost while a thread held it, or permits of a semaphore while threads had them.
     *
     * @param loss which lock or semaphore, and why
     */
    default void lost(LeaseLostException loss) {}

    /**
     * A lock, or permits of a semaphore, had been lost, and the thread has given them up without hearing of that: Redis
     * has told only by its answer to the release. Another thread may have had them at the same time.
     *
     * @param loss which lock, and the fencing token of the acquisition; or which semaphore
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
     * A thread has asked a semaphore for permits. Calls of {@code drainPermits()} aren't told.
     *
     * @param name the name of the semaphore
     * @param permits how many, 0 or more
     * @param outcome whether it has got them, and if not, why
     * @param waitedNanos how long the call took
     */
    default void permitsAsked(String name, int permits, Outcome outcome, long waitedNanos) {}

    /**
     * A rate limiter has decided on a request. {@link #decidedWithoutRedis} is called instead if Redis didn't answer.
     *
     * @param name the name of the limiter, without the key of {@code forKey}
     * @param permits the requested permits, 1 or more
     * @param granted whether they were granted, now or for a time within the wait that the caller had
     */
    default void decided(String name, long permits, boolean granted) {}

    /**
     * A rate limiter has applied its policy to a request because Redis didn't answer. Called for each such request.
     *
     * @param name the name of the limiter
     * @param permits the requested permits
     * @param policy the policy that it applied
     */
    default void decidedWithoutRedis(String name, long permits, OutagePolicy policy) {}

    /**
     * A candidate of this session was elected. A listener that is added later is told of terms that go on.
     *
     * @param election the name of the election
     * @param token the fencing token of the term
     */
    default void elected(String election, long token) {}

    /**
     * The term of a candidate of this session has ended.
     *
     * @param election the name of the election
     * @param token the fencing token of the term
     * @param why why it has ended
     */
    default void deposed(String election, long token, Term.End why) {}

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
