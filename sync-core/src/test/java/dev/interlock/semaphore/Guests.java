package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Visitors.Visit;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** The permits that visitors of one test hold between them: more than there are is a failure. */
final class Guests {
    private final AtomicInteger held = new AtomicInteger();
    private volatile int capacity;

    /** Says how many permits there are in all. */
    void limit(int permits) {
        capacity = permits;
    }

    /** How a thread comes by its permits. */
    @FunctionalInterface
    interface Entry {
        boolean acquire(Semaphore semaphore, int permits) throws InterruptedException;
    }

    /** A visit by means of so many permits. */
    Visit visit(Semaphore semaphore, int permits, Entry entry) {
        return new Visit() {
            @Override
            public boolean enter() throws InterruptedException {
                return entry.acquire(semaphore, permits);
            }

            @Override
            public void begin() {
                assertThat(held.addAndGet(permits)).as("permits held").isLessThanOrEqualTo(capacity);
            }

            @Override
            public void end() {
                held.addAndGet(-permits);
            }

            @Override
            public void exit() {
                semaphore.release(permits);
            }

            @Override
            public void outside() {
                // Permits don't belong to threads.
            }
        };
    }
}
