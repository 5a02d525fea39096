package dev.interlock.lock.fair;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The order of some threads at a lock, as they see it themselves: who was in the queue of the superclass when another
 * one came more than {@value #NEIGHBOURS_MILLIS} ms later must not enter after that one has entered.
 */
final class Arrivals {

    /** Threads that come no further apart may change places, if one of them has to queue again. */
    private static final int NEIGHBOURS_MILLIS = 10;

    private static final long NEIGHBOURS_NANOS = TimeUnit.MILLISECONDS.toNanos(NEIGHBOURS_MILLIS);

    private final ReentrantLock lock;
    private final List<Thread> threads;

    /** Attempts to acquire, by thread: how many it has begun, and which of them was the last to succeed or fail. */
    private final AtomicIntegerArray begun;

    private final AtomicIntegerArray ended;

    /** The last attempt of each thread that was seen in the queue, and when it was first seen there. */
    private final int[] queued;

    private final long[] queuedNanos;

    /** The last attempt of each thread that was still on its way, or just being given up, when a later one entered. */
    private final AtomicIntegerArray passed;

    Arrivals(ReentrantLock lock, List<Thread> threads) {
        this.lock = lock;
        this.threads = List.copyOf(threads);
        this.begun = new AtomicIntegerArray(threads.size());
        this.passed = new AtomicIntegerArray(threads.size());
        this.ended = new AtomicIntegerArray(threads.size());
        this.queued = new int[threads.size()];
        this.queuedNanos = new long[threads.size()];
    }

    /** Called by a thread that is about to acquire. Returns the attempt of each thread that comes before it, or 0. */
    synchronized int[] come(int self) {
        begun.incrementAndGet(self);
        int[] ahead = new int[threads.size()];
        for (int i = 0; i < ahead.length; i++) {
            int attempt = begun.get(i);
            if (i != self && lock.hasQueuedThread(threads.get(i)) && begun.get(i) == attempt) {
                if (queued[i] != attempt) {
                    queued[i] = attempt;
                    queuedNanos[i] = System.nanoTime();
                }
                if (System.nanoTime() - queuedNanos[i] > NEIGHBOURS_NANOS) {
                    ahead[i] = attempt;
                }
            }
        }
        return ahead;
    }

    /** Called by a thread inside. Returns whether one that had come later has been inside before it. */
    boolean enter(int self, int[] ahead) {
        for (int i = 0; i < ahead.length; i++) {
            if (ended.get(i) < ahead[i]) {
                passed.set(i, Math.max(passed.get(i), ahead[i]));
            }
        }
        int attempt = begun.get(self);
        ended.set(self, attempt);
        return passed.get(self) == attempt;
    }

    /** Called by a thread that has not entered. */
    void giveUp(int self) {
        ended.set(self, begun.get(self));
    }
}
