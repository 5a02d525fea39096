package dev.interlock.lock.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Requests;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;

/** Threads of several sessions that wait for one condition and signal it, before a faulty network. */
abstract class ConditionFixture extends FaultFixture {
    static final String NAME = "stock";
    static final String ARRIVED = "arrived";

    private final AtomicInteger names = new AtomicInteger();

    /** The locks that have conditions of their own. */
    enum Kind {
        PLAIN,
        FAIR
    }

    /** A lock and its condition, as one session has them. */
    @SuppressWarnings("WaitNotInLoop") // what ends a wait is what tests are about
    record Side(Interlock session, DistributedReentrantLock lock, Condition arrived) {
        void signal() {
            lock.lock();
            try {
                arrived.signal();
            } finally {
                lock.unlock();
            }
        }

        void signalAll() {
            lock.lock();
            try {
                arrived.signalAll();
            } finally {
                lock.unlock();
            }
        }

        /** Waits once, with the lock before and after. */
        void await() throws InterruptedException {
            lock.lock();
            try {
                arrived.await();
                lock.assertHeld();
            } finally {
                lock.unlock();
            }
        }

        /** Waits once. Returns whether it was signalled in time. */
        boolean await(Duration time) throws InterruptedException {
            lock.lock();
            try {
                boolean signalled = arrived.await(time.toMillis(), TimeUnit.MILLISECONDS);
                lock.assertHeld();
                return signalled;
            } finally {
                lock.unlock();
            }
        }
    }

    final Side side(Kind kind, Interlock session) {
        return side(session, kind == Kind.FAIR ? session.fairLock(NAME) : session.lock(NAME));
    }

    final Side side(Interlock session, DistributedReentrantLock lock) {
        return new Side(session, free(lock), lock.newCondition(ARRIVED));
    }

    /** Has Redis know all scripts that tests wait for. */
    @BeforeEach
    void exchange() {
        Side first = side(Kind.PLAIN, undisturbed());
        Side second = side(Kind.PLAIN, undisturbed());
        Actor other = actor("other");
        CompletableFuture<Boolean> returned = startWaiting(first, other, 1);
        second.lock().lock();
        assertThat(second.lock().getWaitQueueLength(second.arrived())).isEqualTo(1);
        second.arrived().signal();
        second.lock().unlock();
        assertThat(returned).succeedsWithin(PATIENCE);
        assertThat(other.get(() -> first.await(Duration.ofMillis(10)))).isFalse();
        awaitFree(NAME);
    }

    /** Has a new thread wait, and returns once Redis knows so many waiters. */
    final CompletableFuture<Boolean> startWaiting(Side side, int count) {
        return startWaiting(side, actor("waiter-" + names.incrementAndGet()), count);
    }

    final CompletableFuture<Boolean> startWaiting(Side side, Actor thread, int count) {
        CompletableFuture<Boolean> returned = thread.begin(side::await);
        await("waiting").untilAsserted(() -> {
            assertThat(returned).as("spuriously").isNotDone();
            assertThat(holder(NAME)).as("holder").isEmpty();
            assertThat(waiters()).isEqualTo(count);
        });
        return returned;
    }

    final void awaitWaiters(int count) {
        await("waiters").untilAsserted(() -> {
            assertThat(waiters()).isEqualTo(count);
            assertThat(holder(NAME)).isEmpty();
        });
    }

    final int waiters() {
        return Integer.parseInt(String.valueOf(server().command("ZCARD", "interlock:{" + NAME + "}:conditions")));
    }

    /** Who is among them waits on, and nobody else, for a time in which commands would have been repeated. */
    final void assertStillWaits(CompletableFuture<?> returned, int count) {
        await("repetitions")
                .during(SHORT_TIMEOUT.plusMillis(500))
                .until(() -> !returned.isDone() && waiters() == count);
    }

    /** Releases with which a waiter is registered. */
    static Predicate<List<String>> registration() {
        return Requests.release(NAME).and(words -> words.get(words.size() - 1).matches(".*[wf]" + ARRIVED + ":.*"));
    }

    /** Releases that carry a signal. */
    static Predicate<List<String>> signalling() {
        return Requests.release(NAME)
                .and(words -> words.get(words.size() - 1).matches("(.* )?[sa]" + ARRIVED + "( .*)?"));
    }
}
