package dev.interlock.ratelimit.fleet;

import dev.interlock.Interlock;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimit.Algorithm;
import dev.interlock.ratelimit.RateLimiter;
import java.time.Duration;

/** The limiters that a fleet hammers. */
enum Kind {
    FIXED(Algorithm.FIXED_WINDOW, 1),
    SLIDING(Algorithm.SLIDING_WINDOW, 1),
    BUCKET(Algorithm.TOKEN_BUCKET, 1),
    FIXED_AHEAD(Algorithm.FIXED_WINDOW, 10),
    SLIDING_AHEAD(Algorithm.SLIDING_WINDOW, 10),
    BUCKET_AHEAD(Algorithm.TOKEN_BUCKET, 10);

    private static final long PERMITS = 150;
    private static final long BURST = 100;
    private static final Duration WINDOW = Duration.ofSeconds(1);

    private final Algorithm algorithm;
    private final long ahead;

    Kind(Algorithm algorithm, long ahead) {
        this.algorithm = algorithm;
        this.ahead = ahead;
    }

    RateLimit limit() {
        return switch (algorithm) {
            case FIXED_WINDOW -> RateLimit.fixedWindow(PERMITS, WINDOW);
            case SLIDING_WINDOW -> RateLimit.slidingWindow(PERMITS, WINDOW);
            case TOKEN_BUCKET -> RateLimit.tokenBucket(PERMITS, WINDOW).withBurst(BURST);
        };
    }

    /** How many permits each JVM takes ahead, or 1. */
    long ahead() {
        return ahead;
    }

    /**
     * Which part of the limit has to be admitted at least. Of a sliding window a few permits may come back late; what a
     * JVM has taken ahead when the machine turns to others may be wasted.
     */
    double share() {
        return ahead == 1 ? (algorithm == Algorithm.SLIDING_WINDOW ? 0.98 : 0.99) : 0.8;
    }

    RateLimiter of(Interlock interlock, String name) {
        return interlock.rateLimiter(name + "-" + this, limit());
    }
}
