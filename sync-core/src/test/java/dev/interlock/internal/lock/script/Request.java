package dev.interlock.internal.lock.script;

import java.util.List;

/**
 * A request to own the lock by one sequence or several, not yet sent.
 *
 * @param leaseMillis if it gets the lock without having queued
 * @param grantMillis the lease in its tickets
 * @param from what becomes of an earlier tenure, as in the script
 * @param used what was served on the tenure of another ticket
 * @param reads whether it only reads
 */
public record Request(
        Contender by,
        List<Long> sequences,
        long leaseMillis,
        long grantMillis,
        boolean queues,
        long from,
        long floor,
        List<Long> used,
        boolean reads) {
    long sequence() {
        return sequences.get(0);
    }

    public Request lease(long millis) {
        return new Request(by, sequences, millis, millis, queues, from, floor, used, reads);
    }

    public Request granting(long millis) {
        return new Request(by, sequences, leaseMillis, millis, queues, from, floor, used, reads);
    }

    public Request once() {
        return new Request(by, sequences, leaseMillis, grantMillis, false, from, floor, used, reads);
    }

    public Request continuing(long tenure) {
        return new Request(by, sequences, leaseMillis, grantMillis, queues, tenure, floor, used, reads);
    }

    Request above(long token) {
        return new Request(by, sequences, leaseMillis, grantMillis, queues, from, token, used, reads);
    }

    Request using(Long... served) {
        return new Request(by, sequences, leaseMillis, grantMillis, queues, from, floor, List.of(served), reads);
    }

    public Request reading() {
        return new Request(by, sequences, leaseMillis, grantMillis, queues, from, floor, used, true);
    }

    String terms() {
        return reads ? grantMillis + ":r" : Long.toString(grantMillis);
    }

    public Answer send() {
        return by.send(this);
    }

    /** Cancels it, or gives up what it has got. */
    public long release() {
        return by.release(this, sequence());
    }
}
