package dev.interlock.internal.ratelimit;

import dev.interlock.ratelimit.Decision;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;

/**
 * What Redis says of one request. The only place that knows the positions of a reply's fields. All times are
 * microseconds since Redis decided.
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

    /** The first field of a reply: the limit that was set for all. The answers to the requests follow. */
    private static final int LIMIT = 0;

    private static final int FIRST_ANSWER = 1;

    /** The fields of one answer, from its beginning, and how many they are. */
    private static final int GRANTED = 0;

    private static final int WAIT = 1;
    private static final int REMAINING = 2;
    private static final int RESET = 3;
    private static final int GOOD = 4;
    private static final int SIZE = 5;

    /** Completes requests by the reply to the command that brought them. */
    static void complete(List<Request> requests, List<Object> reply, long sentNanos) {
        String set = (String) reply.get(LIMIT);
        int begin = FIRST_ANSWER;
        for (Request request : requests) {
            RateLimit limit = request.limit().update(set);
            List<Object> fields = reply.subList(begin, begin + SIZE);
            request.answer()
                    .complete(new Answer(
                            limit,
                            (Long) fields.get(GRANTED),
                            (Long) fields.get(WAIT),
                            (Long) fields.get(REMAINING),
                            (Long) fields.get(RESET),
                            (Long) fields.get(GOOD),
                            sentNanos));
            begin += SIZE;
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
