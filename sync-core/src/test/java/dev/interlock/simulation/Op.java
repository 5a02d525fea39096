package dev.interlock.simulation;

/**
 * A thread's call, and what it does around it.
 *
 * @param subject the number of what it is called of
 * @param thinkNanos how long the thread does something else before
 * @param holdNanos how long it keeps what it has got
 * @param waitNanos how long it waits, or the lease, where the call takes such a thing
 */
record Op(Call call, int subject, long thinkNanos, long holdNanos, long waitNanos) {}
