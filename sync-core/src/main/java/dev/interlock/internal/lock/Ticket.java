package dev.interlock.internal.lock;

import org.jspecify.annotations.Nullable;

/** A session's outstanding request for a name. Its mutable state is guarded by the mutex of the lock it belongs to. */
final class Ticket {
    final long sequence;
    final long leaseMillis;

    /** Whether the lease is to be renewed. */
    final boolean renewed;

    /** Whether it waits in the queue, or is over if the name isn't free. */
    final boolean queues;

    /** The sequence whose tenure this one continues, 0 for none. */
    final long from;

    /** What {@link #sentNanos} is before anything was sent. */
    static final long NEVER = Long.MIN_VALUE;

    boolean inFlight;
    long sentNanos = NEVER;

    /** When to ask again. */
    long pollAtNanos;

    /**
     * When the last command was first sent whose reply said that this ticket was still queued, and the time of Redis in
     * that reply. A grant comes after that, so its lease is at least that fresh.
     */
    private long queuedNanos;

    private long queuedRedisMicros;

    /** What no repetition will mend. */
    @Nullable
    Throwable failure;

    Ticket(long sequence, long leaseMillis, boolean renewed, boolean queues, long from, long nowNanos) {
        this.sequence = sequence;
        this.leaseMillis = leaseMillis;
        this.renewed = renewed;
        this.queues = queues;
        this.from = from;
        this.queuedNanos = nowNanos;
        this.pollAtNanos = nowNanos;
    }

    void queuedAt(long sentNanos, long redisMicros) {
        queuedNanos = sentNanos - queuedNanos > 0 ? sentNanos : queuedNanos;
        queuedRedisMicros = Math.max(queuedRedisMicros, redisMicros);
    }

    long queuedNanos() {
        return queuedNanos;
    }

    long queuedRedisMicros() {
        return queuedRedisMicros;
    }
}
