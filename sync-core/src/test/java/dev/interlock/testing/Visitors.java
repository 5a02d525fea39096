package dev.interlock.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.interlock.testing.TestThreads.Running;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** The threads that come to a synchronizer in one test, and stay inside until they're told to leave. */
public final class Visitors {
    private final TestThreads threads;
    private final Duration patience;
    private final Duration shortWait;
    private final List<Visitor> visitors = new ArrayList<>();

    /**
     * {@code patience} bounds every wait for a visitor, {@code shortWait} is how long one is watched that shouldn't
     * enter.
     */
    Visitors(TestThreads threads, Duration patience, Duration shortWait) {
        this.threads = threads;
        this.patience = patience;
        this.shortWait = shortWait;
    }

    /** What a thread does on its visit. */
    public interface Visit {
        /** Returns whether it's let in. */
        boolean enter() throws InterruptedException;

        /** Checks, when it has come in, that it may be there. */
        void begin();

        /** Checks the same before it leaves. */
        void end();

        /** Gives back what it has got by entering. */
        void exit();

        /** Checks, when it has left or wasn't let in, that it has nothing. */
        void outside();
    }

    /** Lets another thread come. */
    public Visitor visit(String name, Visit visit) {
        Visitor visitor = new Visitor(name, visit);
        visitors.add(visitor);
        return visitor;
    }

    void letAllGo() {
        visitors.forEach(Visitor::letGo);
    }

    /** What became of a {@link Visitor}. */
    public enum Outcome {
        ENTERED,
        GAVE_UP,
        INTERRUPTED
    }

    /** A thread on its visit. */
    public final class Visitor {
        private final CountDownLatch entered = new CountDownLatch(1);
        private final CountDownLatch mayLeave = new CountDownLatch(1);
        private final Running<Outcome> running;

        private Visitor(String name, Visit visit) {
            this.running = threads.start(name, () -> come(visit));
        }

        private Outcome come(Visit visit) {
            try {
                if (!visit.enter()) {
                    visit.outside();
                    return Outcome.GAVE_UP;
                }
            } catch (InterruptedException e) {
                assertThat(Thread.currentThread().isInterrupted()).as("flag").isFalse();
                visit.outside();
                return Outcome.INTERRUPTED;
            }
            try {
                visit.begin();
                entered.countDown();
                Uninterruptibles.awaitUninterruptibly(mayLeave);
                visit.end();
            } finally {
                visit.exit();
            }
            visit.outside();
            return Outcome.ENTERED;
        }

        public Thread thread() {
            return running.thread();
        }

        public boolean isIn() {
            return entered.getCount() == 0;
        }

        /** False as long as one that is in certainly stays there: who enters beside it then has broken exclusion. */
        public boolean isLeaving() {
            return mayLeave.getCount() == 0;
        }

        public Visitor awaitIn() {
            if (!Uninterruptibles.awaitUninterruptibly(entered, patience)) {
                letGo();
                assertThat(running.result()).as(thread().getName()).isEqualTo(Outcome.ENTERED);
                throw new AssertionError(thread().getName() + " came in too late");
            }
            return this;
        }

        public void assertStillWaits() {
            assertThat(Uninterruptibles.awaitUninterruptibly(entered, shortWait))
                    .as(thread().getName() + " is in")
                    .isFalse();
            assertThat(thread().isAlive()).as(thread().getName() + " is alive").isTrue();
        }

        /** Interrupts it while it waits: that ends its visit. */
        public void assertInterruptible() {
            thread().interrupt();
            assertOutcome(Outcome.INTERRUPTED);
        }

        public void letGo() {
            mayLeave.countDown();
        }

        /** Returns once it has entered, left, and died. */
        public void leave() {
            letGo();
            assertOutcome(Outcome.ENTERED);
        }

        /** Returns once it has died. */
        public void assertOutcome(Outcome outcome) {
            assertThat(outcome()).as(thread().getName()).isEqualTo(outcome);
        }

        public Outcome outcome() {
            return running.result();
        }
    }
}
