package dev.interlock.ratelimit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * What a rate limiter says of a request, and how things stand after it. All times count from when Redis decided.
 *
 * @param allowed whether the permits were there, and are taken
 * @param limit how many permits can be taken at once at most: see {@link RateLimit#burst()}
 * @param remaining how many could be taken now
 * @param retryAfter zero if allowed; otherwise when the permits asked for will be there if nobody else takes any, and
 *     {@link #NEVER} if more were asked for than there can be at once
 * @param resetAfter when all permits will be there if nobody takes any
 */
public record Decision(boolean allowed, long limit, long remaining, Duration retryAfter, Duration resetAfter) {
    /** Longer than any time. */
    public static final Duration NEVER = ChronoUnit.FOREVER.getDuration();
}
