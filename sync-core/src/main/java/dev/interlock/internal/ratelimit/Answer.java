package dev.interlock.internal.ratelimit;

import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * What Redis says of one request. All times are microseconds since Redis decided.
 *
 * @param limit the limit it was held against
 * @param granted how many permits were taken, at least those that were asked for, or 0
 * @param waitMicros until they are there, or would be; less than 0 if never
 * @param remaining how many are left now
 * @param resetMicros until all are there
 * @param goodMicros for how long what was granted may be used
 * @param sentNanos when the request was sent, by the ticker: no later than Redis decided
 */
record Answer(
        RateLimit limit,
        long granted,
        long waitMicros,
        long remaining,
        long resetMicros,
        long goodMicros,
        long sentNanos) {

    /** What is said while Redis says nothing. */
    static Answer withoutRedis(RateLimit limit, long granted, long waitMicros) {
        return new Answer(limit, granted, waitMicros, 0, 0, 0, 0);
    }

    boolean isGranted() {
        return granted > 0;
    }

    Duration waiting() {
        return waitMicros < 0 ? Decision.NEVER : micros(waitMicros);
    }

    Decision decision(long remainingHere) {
        return new Decision(
                isGranted(),
                limit.burst(),
                remaining + remainingHere,
                isGranted() ? Duration.ZERO : waiting(),
                micros(resetMicros));
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }
}
