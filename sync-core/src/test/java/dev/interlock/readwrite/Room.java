package dev.interlock.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * What the locks of one test guard. It counts the visitors inside; one that finds there whom it should exclude fails.
 */
final class Room {

    private final TestThreads threads;
    private final Duration patience;
    private final Duration shortWait;
    private final List<Visitor> visitors = new ArrayList<>();
    private final AtomicInteger readers = new AtomicInteger();
    private final AtomicInteger writers = new AtomicInteger();

    /**
     * {@code patience} bounds every wait for a visitor, {@code shortWait} is how long one is watched that shouldn't
     * enter.
     */
    Room(TestThreads threads, Duration patience, Duration shortWait) {
        this.threads = threads;
        this.patience = patience;
        this.shortWait = shortWait;
    }

    Visitor visit(String name, ReentrantReadWriteLock lock, View view, Entry entry) {
        Visitor visitor = new Visitor(name, lock, view, entry);
        visitors.add(visitor);
        return visitor;
    }

    void letAllGo() {
        visitors.forEach(Visitor::letGo);
    }

    private void enter(View view) {
        (view == View.READ ? readers : writers).incrementAndGet();
        assertThat(writers).as("writers inside").hasValue(view == View.READ ? 0 : 1);
        if (view == View.WRITE) {
            assertThat(readers).as("readers inside").hasValue(0);
        }
    }

    private void leave(View view) {
        (view == View.READ ? readers : writers).decrementAndGet();
    }

    /** How a thread comes into a view. */
    @FunctionalInterface
    interface Entry {
        boolean into(Lock view) throws InterruptedException;
    }

    /** What became of a {@link Visitor}. */
    enum Outcome {
        ENTERED,
        GAVE_UP,
        INTERRUPTED
    }

    /** A thread that comes to one view of a lock, and stays there until it's told to let go. */
    final class Visitor {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayLeave = new CountDownLatch(1);
        private final ReentrantReadWriteLock lock;
        private final View view;
        private final Running<Outcome> running;

        private Visitor(String name, ReentrantReadWriteLock lock, View view, Entry entry) {
            this.lock = lock;
            this.view = view;
            this.running = threads.start(name, () -> come(entry));
        }

        private Outcome come(Entry entry) {
            try {
                if (!entry.into(view.of(lock))) {
                    ReadWriteLockFixture.assertHolds(lock, 0, 0);
                    return Outcome.GAVE_UP;
                }
            } catch (InterruptedException e) {
                assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
                ReadWriteLockFixture.assertHolds(lock, 0, 0);
                return Outcome.INTERRUPTED;
            }
            try {
                Room.this.enter(view);
                view.assertHeld(lock, 1);
                entered.countDown();
                Uninterruptibles.awaitUninterruptibly(mayLeave);
                view.assertHeld(lock, 1);
                Room.this.leave(view);
            } finally {
                view.of(lock).unlock();
            }
            ReadWriteLockFixture.assertHolds(lock, 0, 0);
            return Outcome.ENTERED;
        }

        Thread thread() {
            return running.thread();
        }

        boolean isIn() {
            return entered.getCount() == 0;
        }

        Visitor awaitIn() {
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

        /** Returns once it has entered, released the lock, and died. */
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
