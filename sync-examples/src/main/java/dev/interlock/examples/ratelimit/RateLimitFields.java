package dev.interlock.examples.ratelimit;

import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;

/**
 * What a client is told of its limit in header fields, as in <i>RateLimit header fields for HTTP</i>,
 * draft-ietf-httpapi-ratelimit-headers-10. Seconds are rounded up: who comes then doesn't come too early.
 *
 * @param policy the name of the limit, of letters, digits and hyphens
 */
record RateLimitFields(String policy, RateLimit limit, Decision decision) {

    /**
     * The quota, and the time for which it is: of a token bucket its size, and the time in which it is filled, so that
     * there is never more left than the quota.
     */
    String rateLimitPolicy() {
        Duration window = limit.window().multipliedBy(limit.burst()).dividedBy(limit.permits());
        return "\"%s\";q=%d;w=%d".formatted(policy, limit.burst(), secondsUp(window));
    }

    /**
     * What is left, and for how long it has to do. A full bucket takes longer than its next token: who is refused is
     * told of the latter, for {@code Retry-After} mustn't be earlier than what is said here.
     */
    String rateLimit() {
        Duration reset = decision.allowed() ? decision.resetAfter() : decision.retryAfter();
        return "\"%s\";r=%d;t=%d".formatted(policy, decision.remaining(), secondsUp(reset));
    }

    /** When to come again, in seconds; at least one. */
    String retryAfter() {
        return Long.toString(Math.max(1, secondsUp(decision.retryAfter())));
    }

    private static long secondsUp(Duration duration) {
        return duration.plusSeconds(1).minusNanos(1).toSeconds();
    }
}
