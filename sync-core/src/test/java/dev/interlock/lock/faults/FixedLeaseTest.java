package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.MovableTicker;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A lease of fixed length is one thread's: the next thread of its JVM, which goes on with the tenure, has a whole one
 * of its own.
 */
class FixedLeaseTest extends FaultFixture {
    private static final String NAME = "stock";
    private static final Duration SLICE = Duration.ofSeconds(10);

    private static void lock(DistributedReentrantLock lock) {
        lock.lock(20, TimeUnit.SECONDS);
    }

    private DistributedReentrantLock lock(Interlock session, boolean isFair) {
        return free(isFair ? session.fairLock(NAME) : session.lock(NAME));
    }

    /** However much the first thread has left of its lease: the owner in Redis is another one. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theNextThreadHasAWholeLease(boolean isFair) {
        DistributedReentrantLock lock = lock(session(), isFair);
        Actor first = actor("first");
        Actor second = actor("second");
        first.run(() -> lock(lock));
        String owner = holder(NAME);
        CompletableFuture<Boolean> entered = second.begin(() -> lock(lock));
        awaitQueued(lock, second);
        first.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        assertThat(holder(NAME)).isNotEmpty().isNotEqualTo(owner);
        second.run(lock::assertHeld);
        second.run(lock::unlock);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @SuppressWarnings("WaitNotInLoop") // it is signalled once
    void aThreadThatComesBackFromAWaitHasAWholeLease(boolean isFair) {
        DistributedReentrantLock lock = lock(session(), isFair);
        Condition arrived = lock.newCondition();
        Actor waiter = actor("waiter");
        Actor signaller = actor("signaller");
        waiter.run(() -> lock(lock));
        CompletableFuture<Boolean> entered = signaller.begin(() -> lock(lock));
        awaitQueued(lock, signaller);
        CompletableFuture<Boolean> returned = waiter.begin(arrived::await);
        assertThat(entered).succeedsWithin(PATIENCE);
        signaller.run(arrived::signal);
        String owner = holder(NAME);
        signaller.run(lock::unlock);
        assertThat(returned).succeedsWithin(PATIENCE);
        assertThat(holder(NAME)).isNotEmpty().isNotEqualTo(owner);
        waiter.run(lock::unlock);
    }

    /** Though each thread continues the tenure by a new one, their turn ends when that of one tenure would. */
    @Test
    void theTurnOfASessionIsNoLongerForThat() {
        MovableTicker ticker = new MovableTicker();
        DistributedReentrantLock lock =
                lock(session(builder -> builder.ticker(ticker).handoffSlice(SLICE)), NAME);
        DistributedReentrantLock other = lock(undisturbed(), NAME);
        Actor first = actor("first");
        Actor second = actor("second");
        Actor third = actor("third");
        Actor rival = actor("rival");
        first.run(() -> lock(lock));
        CompletableFuture<Boolean> seconds = second.begin(() -> lock(lock));
        awaitQueued(lock, second);
        CompletableFuture<Boolean> thirds = third.begin(() -> lock(lock));
        awaitQueued(lock, third);
        CompletableFuture<Boolean> rivals = queue(rival, other);
        await("word of the rival").until(() -> lock.toString().contains("wanted"));

        ticker.advance(SLICE.multipliedBy(3).dividedBy(5));
        first.run(lock::unlock);
        assertThat(seconds).as("within the slice").succeedsWithin(PATIENCE);
        assertThat(rivals).isNotDone();
        ticker.advance(SLICE.multipliedBy(3).dividedBy(5));
        second.run(lock::unlock);

        assertThat(rivals).as("after the slice").succeedsWithin(PATIENCE);
        assertThat(thirds).isNotDone();
        rival.run(other::unlock);
        assertThat(thirds).succeedsWithin(PATIENCE);
        third.run(lock::unlock);
    }
}
