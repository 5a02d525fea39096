package dev.interlock.lock.condition;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A bounded queue, written for {@link ReentrantLock}: it knows nothing of JVMs. Its elements are wherever its store has
 * them, and all users of the store must have locks that exclude each other and conditions that reach each other.
 */
final class BoundedQueue {

    private final ReentrantLock lock;
    private final Condition notFull;
    private final Condition notEmpty;
    private final QueueStore store;
    private final int capacity;

    BoundedQueue(ReentrantLock lock, QueueStore store, int capacity) {
        this.lock = lock;
        this.notFull = lock.newCondition();
        this.notEmpty = lock.newCondition();
        this.store = store;
        this.capacity = capacity;
    }

    /** Waits for room, and appends an element. */
    void put(long element) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (store.size() >= capacity) {
                notFull.await();
            }
            long size = store.append(element);
            if (size > capacity) {
                throw new IllegalStateException(size + " elements in a queue for " + capacity);
            }
            notEmpty.signal();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for an element, and removes it; the store notes down who has it. */
    long take(String taker) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long element = store.remove(taker);
            while (element == QueueStore.NONE) {
                notEmpty.await();
                element = store.remove(taker);
            }
            notFull.signal();
            return element;
        } finally {
            lock.unlock();
        }
    }
}
