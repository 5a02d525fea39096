package dev.interlock.internal.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.semaphore.SemaphoreWaiters.Need;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Threads that want different numbers of permits are served in the order in which the superclass has queued them. */
class SemaphoreWaitersTest {
    private final List<Thread> parked = new ArrayList<>();
    private final SemaphoreWaiters waiters = new SemaphoreWaiters(new LocalSemaphore() {
        @Override
        public void acquire(int permits) {
            throw new AssertionError();
        }

        @Override
        public void acquireUninterruptibly(int permits) {
            throw new AssertionError();
        }

        @Override
        public boolean tryAcquire(int permits) {
            throw new AssertionError();
        }

        @Override
        public boolean tryAcquire(int permits, long waitNanos) {
            throw new AssertionError();
        }

        @Override
        public void release(int permits) {
            throw new AssertionError();
        }

        @Override
        public int availablePermits() {
            return 1;
        }

        @Override
        public int drainPermits() {
            throw new AssertionError();
        }

        @Override
        public List<Thread> queuedThreads() {
            return parked;
        }
    });

    private Thread add(int permits) {
        Thread thread = new Thread(() -> {});
        waiters.add(new Waiter(thread, permits));
        return thread;
    }

    /** The session looked again each millisecond as long as two threads waited for different numbers. */
    @Test
    void theOrderIsKnownWhenAllAreQueued() {
        Thread second = add(2);
        Thread first = add(3);
        parked.addAll(List.of(first, second));
        assertThat(waiters.need(1)).isEqualTo(new Need(3, 1, true));
    }

    @Test
    void theOrderIsUnknownWhileOneIsAboutToQueue() {
        parked.add(add(3));
        add(2);
        assertThat(waiters.need(1)).isEqualTo(new Need(3, 1, false));
    }
}
