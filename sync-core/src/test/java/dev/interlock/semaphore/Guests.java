package dev.interlock.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that have come for permits in one test. They count the permits that they hold between them: more than
 * there are is a failure.
 */
final class Guests {

    private final TestThreads threads;
    private final Duration patience;
    private final Duration shortWait;
    private final List<Guest> guests = new ArrayList<>();
    private final AtomicInteger held = new AtomicInteger();
    private volatile int capacity;

    /**
     * {@code patience} bounds every wait for a guest, {@code shortWait} is how long one is watched that shouldn't get
     * in.
     */
    Guests(TestThreads threads, Duration patience, Duration shortWait) {
        this.threads = threads;
        this.patience = patience;
        this.shortWait = shortWait;
    }

    /** Says how many permits there are in all. */
    void limit(int permits) {
        capacity = permits;
    }

    Guest invite(String name, Semaphore semaphore, int permits, Entry entry) {
        Guest guest = new Guest(name, semaphore, permits, entry);
        guests.add(guest);
        return guest;
    }

    void letAllGo() {
        guests.forEach(Guest::letGo);
    }

    /** How a thread comes by its permits. */
    @FunctionalInterface
    interface Entry {
        boolean acquire(Semaphore semaphore, int permits) throws InterruptedException;
    }

    /** What became of a {@link Guest}. */
    enum Outcome {
        ENTERED,
        GAVE_UP,
        INTERRUPTED
    }

    /** A thread that comes for permits, and keeps them until it's told to let go. */
    final class Guest {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayLeave = new CountDownLatch(1);
        private final Semaphore semaphore;
        private final int permits;
        private final Running<Outcome> running;

        private Guest(String name, Semaphore semaphore, int permits, Entry entry) {
            this.semaphore = semaphore;
            this.permits = permits;
            this.running = threads.start(name, () -> come(entry));
        }

        private Outcome come(Entry entry) {
            try {
                if (!entry.acquire(semaphore, permits)) {
                    return Outcome.GAVE_UP;
                }
            } catch (InterruptedException e) {
                assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
                return Outcome.INTERRUPTED;
            }
            try {
                assertThat(held.addAndGet(permits)).as("permits held").isLessThanOrEqualTo(capacity);
                entered.countDown();
                Uninterruptibles.awaitUninterruptibly(mayLeave);
                held.addAndGet(-permits);
            } finally {
                semaphore.release(permits);
            }
            return Outcome.ENTERED;
        }

        Thread thread() {
            return running.thread();
        }

        boolean isIn() {
            return entered.getCount() == 0;
        }

        Guest awaitIn() {
            if (!Uninterruptibles.awaitUninterruptibly(entered, patience)) {
                letGo();
                assertThat(running.result()).as(thread().getName()).isEqualTo(Outcome.ENTERED);
                throw new AssertionError(thread().getName() + " came in too late");
            }
            return this;
        }

        void assertStillWaits() {
            assertThat(Uninterruptibles.awaitUninterruptibly(entered, shortWait))
                    .as(thread().getName() + " is in")
                    .isFalse();
            assertThat(thread().isAlive()).as(thread().getName() + " is alive").isTrue();
        }

        void letGo() {
            mayLeave.countDown();
        }

        /** Returns once it has entered, released its permits, and died. */
        void leave() {
            letGo();
            assertOutcome(Outcome.ENTERED);
        }

        /** Returns once it has died. */
        void assertOutcome(Outcome outcome) {
            assertThat(outcome()).as(thread().getName()).isEqualTo(outcome);
        }

        Outcome outcome() {
            return running.result();
        }
    }
}
