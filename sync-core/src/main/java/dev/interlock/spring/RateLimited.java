package dev.interlock.spring;

import dev.interlock.ratelimit.OutagePolicy;
import dev.interlock.ratelimit.RateLimit;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs a method of a bean at a limited rate, which all JVMs share: by default so many times in any interval of that
 * length, see {@link #algorithm}. A call beyond the limit gets a {@link RateLimitExceededException} and doesn't run the
 * method; in a web application the client gets status 429 with the fields {@code Retry-After}, {@code RateLimit} and
 * {@code RateLimit-Policy}.
 *
 * <pre>{@code
 * @RateLimited(name = "search", key = "#{#user}", permits = 5, per = "10s")
 * public List<Hit> search(String user, String words) {
 *     …
 * }
 * }</pre>
 *
 * <p>The limiter is that of {@link dev.interlock.Interlock#rateLimiter}. Works as all annotations of Spring AOP do: for
 * calls from other beans; on a private, static or final method it is an error when the bean is created. A publisher, a
 * {@code Callable}, a {@code WebAsyncTask} or a function of Kotlin's that suspends takes a permit whenever its work
 * begins; all other methods when they are called.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface RateLimited {
    /** Where the limit stands among what surrounds a method: outside of locks, so that a call waits before it holds. */
    int ORDER = Once.ORDER - 10;

    /** The name of the limiter, without expressions. May contain a property, {@code ${…}}. */
    String name();

    /**
     * Whose limit it is, such as a user: each key has a count of its own. As {@link Locked#name}; empty for one count.
     */
    String key() default "";

    /** How many calls there may be in that time, as {@link #algorithm} counts, 1 to {@value RateLimit#MOST_PERMITS}. */
    long permits();

    /** The time, 1 ms to 366 days, such as {@code 1s}, {@code 1m} or {@code PT1H}. May contain a property. */
    String per();

    /**
     * The algorithm that counts: by default a {@linkplain RateLimit#slidingWindow sliding window}, by which there are
     * never more than {@link #permits} calls in any time as long as {@link #per}, and a refused caller that comes again
     * after {@code Retry-After} is admitted unless others were before.
     */
    RateLimit.Algorithm algorithm() default RateLimit.Algorithm.SLIDING_WINDOW;

    /** Of a token bucket, how many calls it gives at once; 0 for as many as {@link #permits}. */
    long burst() default 0;

    /** The longest wait for a permit; by default a call that has none is refused at once. May contain a property. */
    String waitAtMost() default "0s";

    /** What becomes of calls while Redis doesn't answer. */
    OutagePolicy whenUnavailable() default OutagePolicy.FAIL;
}
