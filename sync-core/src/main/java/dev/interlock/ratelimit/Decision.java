package dev.interlock.ratelimit;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * A rate limiter's answer to a request, and its state after it. All times count from Redis' decision.
 *
 * @param allowed whether the permits were available; then they are taken
 * @param limit the most permits that one request can take, see {@link RateLimit#burst()}
 * @param remaining the permits that are available now
 * @param retryAfter zero if allowed; otherwise the time until the requested permits are available unless others take
 *     permits before, and {@link #NEVER} if the request exceeds {@code limit}
 * @param resetAfter the time until all permits are available unless others take permits before
 */
public record Decision(boolean allowed, long limit, long remaining, Duration retryAfter, Duration resetAfter) {
    /** Longer than any time. */
    public static final Duration NEVER = ChronoUnit.FOREVER.getDuration();
}
