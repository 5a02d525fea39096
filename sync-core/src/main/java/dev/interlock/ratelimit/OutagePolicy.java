package dev.interlock.ratelimit;

/**
 * What a rate limiter does with requests while Redis doesn't answer. A request waits one command time-out for an
 * answer. During an outage, one request per second, or per command time-out if that is longer, asks Redis, and the
 * policy applies to all others at once.
 */
public enum OutagePolicy {
    /** Requests fail, with a {@link dev.interlock.RedisUnavailableException}. The default. */
    FAIL,

    /** Requests are admitted: too many are better than none. */
    ADMIT,

    /** Requests are refused: none are better than too many. */
    REFUSE
}
