package dev.interlock.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Gives permits at a limited rate, shared by all JVMs that use one Redis. Its verbs are those of Guava's
 * {@code RateLimiter}; in contrast to Guava, there are three kinds of limit, see {@link RateLimit}.
 *
 * <pre>{@code
 * RateLimiter limiter = interlock.rateLimiter("api", RateLimit.fixedWindow(3, Duration.ofSeconds(10)));
 * Decision decision = limiter.forKey(user).decide(1);
 * if (!decision.allowed()) {
 *     throw new TooManyRequests(decision.retryAfter());
 * }
 * }</pre>
 *
 * <p>Only the clock of Redis counts. A limiter has no state in the JVM except what {@link #prefetch} takes ahead, so an
 * application may obtain it any number of times, and keep it for any time. A decision is one round trip; requests of
 * threads that come during one share the next.
 *
 * <p>Waiting requests have reserved their permits: {@link #acquire} and {@link #tryAcquire(long, Duration)} take them
 * from a future window, or from future tokens of the bucket, and then wait for that time. So they are served in the
 * order in which Redis received them, and requests that don't wait are refused in the meantime. A wait can't be
 * interrupted (the thread's interrupt status is kept), as in Guava; {@code close()} ends it with an
 * {@link IllegalStateException}.
 *
 * <p>A command whose answer was lost is repeated, and charged once. A request that {@linkplain OutagePolicy got no
 * answer} at all may have been charged or not. A limiter never admits more than the limit allows; but if Redis loses
 * its data, the charges are lost.
 *
 * <p>Futures complete on threads of the session, of which there are 16. What depends on a future and blocks for long,
 * other than by joining other futures, belongs on an executor of its own: {@code thenAcceptAsync(action, executor)}.
 *
 * <p>Safe for use by any number of threads. Taking permits creates no happens-before relation between threads.
 */
public interface RateLimiter {
    /**
     * Takes a permit if one is available now.
     *
     * @return whether it took one
     * @throws dev.interlock.RedisUnavailableException if Redis doesn't answer and the policy is
     *     {@link OutagePolicy#FAIL}
     * @throws IllegalStateException if the session is closed
     */
    default boolean tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Takes permits if all of them are available now.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return whether it took them
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    boolean tryAcquire(long permits);

    /**
     * Takes permits if they become available within the timeout, and waits for them. Returns at once if they don't.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @param timeout the longest wait for the permits; zero or less means no wait. The call waits for Redis' answer in
     *     any case
     * @return whether it took them
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    boolean tryAcquire(long permits, Duration timeout);

    /**
     * Takes a permit, and waits until it is available.
     *
     * @return how long it waited, zero if the permit was available
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}, and also if the policy is
     *     {@link OutagePolicy#REFUSE}
     * @throws IllegalStateException if the session is closed
     */
    default Duration acquire() {
        return acquire(1);
    }

    /**
     * Takes permits, and waits until they are available.
     *
     * @param permits how many, 1 to the {@linkplain RateLimit#burst most that one request can take}
     * @return how long it waited, zero if the permits were available
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #acquire()}
     * @throws IllegalStateException if the session is closed
     */
    Duration acquire(long permits);

    /**
     * Takes permits if all of them are available now, and returns the state of the limiter.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return the decision
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    Decision decide(long permits);

    /**
     * Takes permits if they become available within the timeout, waits for them, and returns the state of the limiter.
     * One request, in contrast to {@link #tryAcquire(long, Duration)} and a {@link #decide(long)} after it.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @param timeout as in {@link #tryAcquire(long, Duration)}
     * @return the decision, as Redis made it before the wait
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    Decision decide(long permits, Duration timeout);

    /**
     * Returns how many permits are available now, and takes none. A round trip; not a request that listeners and meters
     * count.
     *
     * @return how many, 0 if Redis doesn't answer and the policy isn't {@link OutagePolicy#FAIL}
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    long availablePermits();

    /**
     * As {@link #tryAcquire(long)}, without blocking. The result fails with what that method throws, except for wrong
     * arguments.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return whether it took them
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Boolean> tryAcquireAsync(long permits);

    /**
     * As {@link #tryAcquire(long, Duration)}, without blocking. Waits end up to a millisecond later. Cancelling the
     * result doesn't return the permits.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @param timeout as in {@link #tryAcquire(long, Duration)}
     * @return whether it took them; completes when they are available
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Boolean> tryAcquireAsync(long permits, Duration timeout);

    /**
     * As {@link #acquire(long)}, without blocking. Waits end up to a millisecond later. Cancelling the result doesn't
     * return the permits.
     *
     * @param permits how many, 1 to the {@linkplain RateLimit#burst most that one request can take}
     * @return how long it waited; completes when the permits are available
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Duration> acquireAsync(long permits);

    /**
     * As {@link #decide}, without blocking.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return the decision
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Decision> decideAsync(long permits);

    /**
     * As {@link #decide(long, Duration)}, without blocking. Waits end up to a millisecond later. Cancelling the result
     * doesn't return the permits.
     *
     * @implSpec The default implementation, for limiters of an application's tests, blocks the caller in
     *     {@link #decide(long, Duration)}. Limiters of a session don't use it.
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @param timeout as in {@link #tryAcquire(long, Duration)}
     * @return the decision, as Redis made it before the wait; completes when the permits are available
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    default CompletableFuture<Decision> decideAsync(long permits, Duration timeout) {
        return CompletableFuture.completedFuture(decide(permits, timeout));
    }

    /**
     * Returns a limiter with a count of its own for a key, such as a user or an address. It has the limit and the
     * policy of this limiter, and follows its {@linkplain #update updates}. No round trip, and no state but the object;
     * in Redis a key has state only until all of its permits are available again.
     *
     * @param key anything that isn't blank, up to 1,024 bytes in UTF-8
     * @return the limiter for that key
     * @throws IllegalArgumentException if {@code key} is blank or too long
     * @throws IllegalStateException if this limiter is for a key already, or {@linkplain #prefetch prefetches}: each
     *     limiter owns what it takes ahead, so call {@code prefetch} on the result, and keep that
     */
    RateLimiter forKey(String key);

    /**
     * Returns a limiter that takes up to {@code n} permits ahead, if they are available, and serves requests from them
     * without a round trip. Keep it, since it owns the permits that it has taken. It serves waiting requests from them
     * as well, and if they aren't enough for a request, only what is missing is asked for. Unused permits expire: with
     * the fixed window that they were taken from, after the length of a sliding window, or after the time in which a
     * token bucket fills. Only this uses the clock of the JVM, which has to run as fast as that of Redis.
     *
     * <p>Permits taken ahead are charged when they are taken. So all JVMs together never admit more in a fixed window
     * than its limit. Of a sliding window or a token bucket they admit in any interval what the limit allows, plus
     * {@code n} for each limiter that prefetches, which it had taken ahead before. They may admit less, by the permits
     * that expire; so choose {@code n} small against the limit divided by the number of JVMs. {@link #update} doesn't
     * affect permits taken ahead.
     *
     * @param n how many, 1 to {@value RateLimit#MOST_PERMITS}; 1 takes none ahead
     * @return the limiter
     * @throws IllegalArgumentException if {@code n} is out of its range
     */
    RateLimiter prefetch(long n);

    /**
     * Returns a limiter for the same permits with another policy for outages of Redis.
     *
     * @param policy what to do with requests during an outage
     * @return the limiter
     */
    RateLimiter whenUnavailable(OutagePolicy policy);

    /**
     * Sets the limit for all JVMs and keys, from the next request until the next update. In contrast to the limits with
     * which the JVMs obtained this limiter, it stays in Redis. Permits already taken count against the new limit, of
     * whichever algorithm and window, but no more than a whole new burst of them.
     *
     * <p>The limit is set in 257 keys, one for every 256th of what this limiter is {@linkplain #forKey for}, so that
     * these are spread over the nodes of a cluster. While this is going on, some have the old limit yet. Of several
     * updates at a time, one stays for all.
     *
     * @param limit the new limit
     * @throws dev.interlock.RedisUnavailableException if Redis doesn't answer, under any policy; some may have the new
     *     limit by then, so call this again
     * @throws IllegalStateException if the session is closed
     */
    void update(RateLimit limit);

    /**
     * Returns the limit that applies, as far as this JVM knows: that of Redis' last answer to this limiter, or to one
     * derived from it or that it derives from. Without any answer, the limit with which it was obtained.
     *
     * @return the limit
     */
    RateLimit limit();
}
