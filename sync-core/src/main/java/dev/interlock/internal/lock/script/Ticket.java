package dev.interlock.internal.lock.script;

import org.jspecify.annotations.Nullable;

/** A session's outstanding request for a name. Its state is part of the {@link LockState}. */
final class Ticket {
    /** Redis takes a session that waits for a condition, and of which it has not heard for so long, to be dead. */
    static final long HEARTBEAT_MILLIS = 3_000;

    final long leaseMillis;

    /** Whether the lease is to be renewed. */
    final boolean renewed;

    /**
     * The lease with which it is granted by somebody else. A lease that is to be renewed begins with a short one, so
     * that a session which dies while it waits doesn't cost the others a whole lease.
     */
    final long grantMillis;

    /** Whether it waits in the queue, or is over if the name isn't free. */
    final boolean queues;

    /** Whether it is for reading only, together with others. */
    final boolean reads;

    /** The sequence whose tenure this one continues, 0 for none, or none any more. */
    long from;

    /** 0 until it is sent for the first time. */
    long sequence;

    /** The waiter of a condition that has got it, negative if it was not signalled, or 0. */
    long waiter;

    /** Whether others wait behind it, as a message says that has come before its grant. */
    boolean isDemanded;

    /** The thread that waits with it, if it is one thread's. */
    @Nullable
    Thread thread;

    /**
     * When the last command was first sent whose reply said that this ticket was still queued, and the time of Redis in
     * that reply. A grant comes after that, so its lease is at least that fresh.
     */
    long queuedNanos;

    long queuedRedisMicros;

    /**
     * Creates one that isn't sent yet.
     *
     * @param heartbeatMillis for how long Redis doesn't take the session to be dead
     */
    Ticket(long leaseMillis, boolean renewed, long heartbeatMillis, boolean queues, boolean reads, long nowNanos) {
        this.leaseMillis = leaseMillis;
        this.renewed = renewed;
        this.grantMillis = renewed ? Math.min(leaseMillis, heartbeatMillis) : leaseMillis;
        this.queues = queues;
        this.reads = reads;
        this.queuedNanos = nowNanos;
    }

    /** Returns what speaks of a sequence for which there is no ticket any more. */
    static Ticket of(long sequence, long leaseMillis, boolean renewed, boolean reads, long waiter) {
        Ticket ticket = new Ticket(leaseMillis, renewed, HEARTBEAT_MILLIS, true, reads, 0);
        ticket.sequence = sequence;
        ticket.waiter = waiter;
        return ticket;
    }

    /** Returns it as scripts know it. */
    String text() {
        return sequence + ":" + terms();
    }

    /** Returns what scripts know of it but the sequence. */
    String terms() {
        String lease = Long.toString(grantMillis);
        return reads ? lease + ":r" : waiter == 0 ? lease : lease + ":" + waiter;
    }

    /** Returns one that takes its place if it is over. What it was goes on to be known by its sequence. */
    Ticket again() {
        Ticket again = new Ticket(leaseMillis, renewed, grantMillis, queues, reads, queuedNanos);
        again.thread = thread;
        return again;
    }

    /** Returns whether Redis has said that it stands in the queue. */
    boolean isQueued() {
        return queuedRedisMicros != 0;
    }

    void queuedAt(long sentNanos, long redisMicros) {
        queuedNanos = sentNanos - queuedNanos > 0 ? sentNanos : queuedNanos;
        queuedRedisMicros = Math.max(queuedRedisMicros, redisMicros);
    }
}
