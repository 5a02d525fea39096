package dev.interlock.ratelimit;

/**
 * What a rate limiter does with requests while Redis doesn't answer. A request waits for an answer for one command
 * time-out; while an outage lasts, one request tries each second, or each command time-out if that is longer, and all
 * others are dealt with at once.
 */
public enum OutagePolicy {
    /** They fail, with a {@link dev.interlock.RedisUnavailableException}. The default. */
    FAIL,

    /** They are admitted: better too many than none. */
    ADMIT,

    /** They are refused: better none than too many. */
    REFUSE
}
