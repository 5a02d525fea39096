package dev.interlock.ratelimit;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * Permits at a limited rate, shared by all JVMs that use one Redis. Its verbs are those of Guava's {@code RateLimiter};
 * other than there, the limit is one of three kinds, see {@link RateLimit}.
 *
 * <pre>{@code
 * RateLimiter limiter = interlock.rateLimiter("api", RateLimit.fixedWindow(3, Duration.ofSeconds(10)));
 * Decision decision = limiter.forKey(user).decide(1);
 * if (!decision.allowed()) {
 *     throw new TooManyRequests(decision.retryAfter());
 * }
 * }</pre>
 *
 * <p>What counts is the clock of Redis alone. A limiter holds no state in the JVM but what {@link #prefetch} takes
 * ahead: it may be obtained as often as one likes, and kept for as long as one likes. A decision is one round trip;
 * requests of threads that come while one is under way share the next.
 *
 * <p>Those who wait have reserved their permits: {@link #acquire} and {@link #tryAcquire(long, Duration)} take them
 * from a future window, or from tokens that the bucket has yet to get, and then wait until it is time. So they are
 * served in the order in which Redis heard of them, and whoever doesn't want to wait is refused meanwhile. A wait can't
 * be interrupted (the thread's interrupt status is kept), as in Guava; {@code close()} ends it by an
 * {@link IllegalStateException}.
 *
 * <p>A command whose answer was lost is repeated, and charged once. A request that {@linkplain OutagePolicy got no
 * answer} at all may have been charged or not. Never are more admitted than the limit allows; but what was charged is
 * lost if Redis loses its data.
 *
 * <p>Safe for use by any number of threads. Actions in one thread don't happen before those in another because both
 * took permits.
 */
public interface RateLimiter {
    /**
     * Takes a permit if one is there now.
     *
     * @return whether it was
     * @throws dev.interlock.RedisUnavailableException if Redis doesn't answer and the policy is
     *     {@link OutagePolicy#FAIL}
     * @throws IllegalStateException if the session is closed
     */
    default boolean tryAcquire() {
        return tryAcquire(1);
    }

    /**
     * Takes permits if all of them are there now.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return whether they were
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    boolean tryAcquire(long permits);

    /**
     * Takes permits if they will be there within some time, and waits for them. Returns at once if they won't be.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @param timeout how long to wait for them at most; zero or less is not to wait. The answer of Redis is awaited in
     *     any case
     * @return whether they were taken
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    boolean tryAcquire(long permits, Duration timeout);

    /**
     * Takes a permit, and waits until it is there.
     *
     * @return how long that was, zero if it was there
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}, and also if the policy is
     *     {@link OutagePolicy#REFUSE}
     * @throws IllegalStateException if the session is closed
     */
    default Duration acquire() {
        return acquire(1);
    }

    /**
     * Takes permits, and waits until they are there.
     *
     * @param permits how many, 1 to the {@linkplain RateLimit#burst most that there are at once}
     * @return how long that was, zero if they were there
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #acquire()}
     * @throws IllegalStateException if the session is closed
     */
    Duration acquire(long permits);

    /**
     * Takes permits if all of them are there now, and tells how things stand.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return what became of it
     * @throws IllegalArgumentException if {@code permits} is out of its range
     * @throws dev.interlock.RedisUnavailableException as {@link #tryAcquire()}
     * @throws IllegalStateException if the session is closed
     */
    Decision decide(long permits);

    /**
     * As {@link #tryAcquire(long)}, without blocking. The result fails by what that throws, except for wrong arguments.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return whether they were there
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Boolean> tryAcquireAsync(long permits);

    /**
     * As {@link #tryAcquire(long, Duration)}, without blocking. Who cancels the result has taken the permits all the
     * same.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @param timeout as there
     * @return whether they were taken, when it is time
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Boolean> tryAcquireAsync(long permits, Duration timeout);

    /**
     * As {@link #acquire(long)}, without blocking. Who cancels the result has taken the permits all the same.
     *
     * @param permits how many, 1 to the {@linkplain RateLimit#burst most that there are at once}
     * @return how long it took, when it is time
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Duration> acquireAsync(long permits);

    /**
     * As {@link #decide}, without blocking.
     *
     * @param permits how many, 1 to {@value RateLimit#MOST_PERMITS}
     * @return what became of it
     * @throws IllegalArgumentException if {@code permits} is out of its range
     */
    CompletableFuture<Decision> decideAsync(long permits);

    /**
     * Returns a limiter that counts for itself what is taken for a key: a user, an address. It has the limit and the
     * policy of this one, and follows its {@linkplain #update updates}. Costs nothing but the object; in Redis a key
     * has state only until its permits are all there again.
     *
     * @param key anything that isn't blank
     * @return the limiter for that key
     * @throws IllegalArgumentException if {@code key} is blank
     * @throws IllegalStateException if this one is for a key already, or {@linkplain #prefetch prefetches}: what a
     *     limiter takes ahead is its own, so ask the result for that, and keep it
     */
    RateLimiter forKey(String key);

    /**
     * Returns a limiter that takes up to so many permits ahead, if they are there, and serves from them without a round
     * trip: keep it, for what it has taken is its own. Who waits is served from them as well. What isn't used in time
     * is lost: with the window that it was taken from, or for a token bucket after the time in which it fills; only for
     * that the clock of the JVM matters, which has to run as fast as that of Redis.
     *
     * <p>Permits taken ahead are charged when they are taken. So all JVMs together never admit more in a window than
     * its limit. Of a token bucket they admit in any stretch of time at most what comes in it, and {@code burst}, and
     * {@code n} for each limiter that prefetches: what it had taken ahead before. They may admit less, by what is lost;
     * so let {@code n} be small against the limit, divided by the number of JVMs. {@link #update} doesn't reach what
     * was taken ahead.
     *
     * @param n how many, 1 to {@value RateLimit#MOST_PERMITS}; 1 is to take none ahead
     * @return the limiter
     * @throws IllegalArgumentException if {@code n} is out of its range
     */
    RateLimiter prefetch(long n);

    /**
     * Returns a limiter for the same permits that does something else while Redis is away.
     *
     * @param policy what to do
     * @return the limiter
     */
    RateLimiter whenUnavailable(OutagePolicy policy);

    /**
     * Sets the limit, for all JVMs and keys, from the next request on, until the next update: other than the limits by
     * which the JVMs obtained this limiter, it stays in Redis. What was taken counts against the new limit too, as far
     * as it is of the same algorithm; no more of it than a whole new burst.
     *
     * @param limit the new limit
     * @throws dev.interlock.RedisUnavailableException if Redis doesn't answer, whatever the policy
     * @throws IllegalStateException if the session is closed
     */
    void update(RateLimit limit);

    /**
     * Returns the limit that applies, as far as this JVM has heard: that of the last answer of Redis to this limiter,
     * or to one that it was made from or that was made from it; the one by which it was obtained, if there was none.
     *
     * @return the limit
     */
    RateLimit limit();
}
