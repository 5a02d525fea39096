package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.RemoteLock;

/**
 * A thread's attempt to enter.
 *
 * @param leaseMillis {@link RemoteLock#RENEWED} or a fixed lease
 * @param once whether it is over if the name isn't free; it needs no place in a fair lock's queue
 * @param reads whether the thread only reads, beside others
 */
record Attempt(Thread thread, long leaseMillis, boolean once, boolean reads, long begunNanos) {}
