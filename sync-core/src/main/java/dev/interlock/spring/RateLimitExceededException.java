package dev.interlock.spring;

import dev.interlock.internal.Names;
import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import java.io.Serial;

/** Thrown instead of running a {@link RateLimited} method, because its limit is reached. */
public final class RateLimitExceededException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    private final String limiterName;
    private final transient RateLimit limit;
    private final transient Decision decision;

    RateLimitExceededException(String limiterName, RateLimit limit, Decision decision) {
        super("rate limiter " + Names.quoted(limiterName) + " admits no more than " + limit + "; come again in "
                + decision.retryAfter());
        this.limiterName = limiterName;
        this.limit = limit;
        this.decision = decision;
    }

    /** Returns the name of the limiter. */
    public String limiterName() {
        return limiterName;
    }

    /** Returns the limit that is reached; null after deserialization. */
    public RateLimit limit() {
        return limit;
    }

    /** Returns the refusal, with the time after which to come again; null after deserialization. */
    public Decision decision() {
        return decision;
    }
}
