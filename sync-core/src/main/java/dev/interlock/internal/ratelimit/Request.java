package dev.interlock.internal.ratelimit;

import java.util.concurrent.CompletableFuture;

/**
 * A request of a thread to a limiter.
 *
 * @param limit the limiter's
 * @param permits how many it wants
 * @param more how many more to take if they are there now
 * @param patienceMicros how long it would wait for them
 * @param answer completes with what Redis says
 */
record Request(SharedLimit limit, long permits, long more, long patienceMicros, CompletableFuture<Answer> answer) {
    /** Appends what scripts read of it. */
    void writeTo(StringBuilder text) {
        text.append(permits)
                .append(' ')
                .append(more)
                .append(' ')
                .append(patienceMicros)
                .append(' ');
    }
}
