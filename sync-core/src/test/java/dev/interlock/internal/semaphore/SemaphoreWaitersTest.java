package dev.interlock.internal.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.internal.semaphore.SemaphoreWaiters.Need;
import dev.interlock.internal.semaphore.SemaphoreWaiters.Waiter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Threads that want different numbers of permits are served in the order in which the superclass has queued them. */
class SemaphoreWaitersTest {
    private final SemaphoreEvents.Stock stock = new SemaphoreEvents.Stock();
    private final SemaphoreWaiters waiters = new SemaphoreWaiters(stock);

    private Thread add(int permits) {
        Thread thread = new Thread(() -> {});
        waiters.add(new Waiter(thread, permits, 0));
        return thread;
    }

    /** The session looked again each millisecond as long as two threads waited for different numbers. */
    @Test
    void theOrderIsKnownWhenAllAreQueued() {
        stock.release(1);
        Thread second = add(2);
        Thread first = add(3);
        stock.parked.addAll(List.of(first, second));
        assertThat(waiters.need(1)).isEqualTo(new Need(3, 1, true));
    }

    @Test
    void theOrderIsUnknownWhileOneIsAboutToQueue() {
        stock.release(1);
        stock.parked.add(add(3));
        add(2);
        assertThat(waiters.need(1)).isEqualTo(new Need(3, 1, false));
    }
}
