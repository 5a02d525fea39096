package dev.interlock.internal.ratelimit;

import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.List;

/**
 * What Redis says of one request. The only place that knows the fields of a reply. All times are microseconds since
 * Redis decided.
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

    /**
     * Completes requests by the reply to the command that brought them. Its first field is the limit that was set for
     * all; the answers to the requests follow, each with its fields in the order of this record's.
     */
    static void complete(List<Request> requests, List<Object> reply, long sentNanos) {
        Iterator<Object> fields = reply.iterator();
        String set = (String) fields.next();
        for (Request request : requests) {
            RateLimit limit = request.limit().update(set);
            request.answer()
                    .complete(new Answer(
                            limit,
                            (Long) fields.next(),
                            (Long) fields.next(),
                            (Long) fields.next(),
                            (Long) fields.next(),
                            (Long) fields.next(),
                            sentNanos));
        }
    }

    /** Returns what a policy answers in the place of Redis. */
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
