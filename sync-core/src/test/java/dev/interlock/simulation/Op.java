package dev.interlock.simulation;

/**
 * A thread's call, and what it does around it.
 *
 * @param subject the number of what it is called of
 * @param thinkNanos how long the thread does something else before
 * @param holdNanos how long it keeps what it has got
 * @param waitNanos how long it waits, or the lease, where the call takes such a thing
 */
record Op(Call call, int subject, long thinkNanos, long holdNanos, long waitNanos) {
    /** How much longer than its lock a thread believes that it has that. */
    static final long DELUSION_NANOS = 5_000_000_000L;

    /** Returns how long it takes, but for what the thread waits for. */
    long nanos() {
        return thinkNanos + holdNanos + (call.outstays() ? waitNanos + DELUSION_NANOS : 0);
    }

    /** Returns whether the thread ends and never gives back what it has. */
    boolean endsThread() {
        return call.outstays() && !call.isRepeated() && thinkNanos % 2 == 0;
    }
}
