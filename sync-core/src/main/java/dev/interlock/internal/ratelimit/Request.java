package dev.interlock.internal.ratelimit;

import java.util.concurrent.CompletableFuture;

/**
 * What a thread asks of a limiter.
 *
 * @param terms the limiter's
 * @param permits how many it wants
 * @param more how many more to take if they are there now
 * @param patienceMicros how long it would wait for them
 * @param answer what comes of it
 */
record Request(Terms terms, long permits, long more, long patienceMicros, CompletableFuture<Answer> answer) {
    void writeTo(StringBuilder line) {
        line.append(permits)
                .append(' ')
                .append(more)
                .append(' ')
                .append(patienceMicros)
                .append(' ');
    }
}
