package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/**
 * Waits that are durations do what those of a number and a unit do: those that overflow any clock are for ever, those
 * of zero or less ask once.
 */
@SuppressWarnings("NullAway") // What null does is the question.
class DurationInputTest extends TwoConnections {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final List<Duration> NO_TIME =
            List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE));

    private final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private interface Attempt {
        boolean within(Duration wait) throws InterruptedException;
    }

    /** Something can be had, then can't while somebody else has it, then can be waited for. */
    private static void assertWaits(Attempt ours, Runnable giveBack, Attempt theirs, Runnable theyGiveBack)
            throws InterruptedException {
        for (Duration noTime : NO_TIME) {
            assertThat(theirs.within(noTime)).isTrue();
            theyGiveBack.run();
        }
        assertThat(ours.within(FOREVER)).isTrue();
        try (Actor actor = new Actor("waiter")) {
            NO_TIME.forEach(
                    noTime -> assertThat(actor.get(() -> theirs.within(noTime))).isFalse());
            assertThat(actor.get(() -> theirs.within(Duration.ofMillis(1)))).isFalse();
            CompletableFuture<Boolean> waiting = actor.ask(() -> theirs.within(FOREVER));
            awaitWaiting(actor);
            assertThat(waiting).isNotDone();
            giveBack.run();
            assertThat(waiting).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
            actor.run(theyGiveBack::run);
        }
        assertThatNullPointerException().isThrownBy(() -> ours.within(null)).withMessageContaining("wait");
    }

    private static void awaitWaiting(Actor actor) {
        await("it waits").until(() -> switch (actor.thread().getState()) {
            case WAITING, TIMED_WAITING -> true;
            default -> false;
        });
    }

    @Test
    void locksTakeDurations() throws InterruptedException {
        DistributedReentrantLock ours = interlock.lock(keyspace.name("lock"));
        DistributedReentrantLock theirs = other.lock(ours.getName());
        assertWaits(ours::tryLock, ours::unlock, theirs::tryLock, theirs::unlock);
    }

    @Test
    void readWriteLocksTakeDurations() throws InterruptedException {
        DistributedReadWriteLock ours = interlock.readWriteLock(keyspace.name("pair"));
        DistributedReadWriteLock theirs = other.readWriteLock(ours.getName());
        assertWaits(
                ours.writeLock()::tryLock, ours.writeLock()::unlock,
                theirs.readLock()::tryLock, theirs.readLock()::unlock);
        assertWaits(
                ours.readLock()::tryLock, ours.readLock()::unlock,
                theirs.writeLock()::tryLock, theirs.writeLock()::unlock);
    }

    @Test
    void semaphoresTakeDurations() throws InterruptedException {
        DistributedSemaphore ours = interlock.semaphore(keyspace.name("permits"), 2);
        DistributedSemaphore theirs = other.semaphore(ours.getName(), 2);
        assertWaits(wait -> ours.tryAcquire(2, wait), () -> ours.release(2), theirs::tryAcquire, theirs::release);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ours.tryAcquire(-1, FOREVER))
                .withMessageContaining("permits");
        assertThat(ours.tryAcquire(0, Duration.ZERO)).isTrue();
    }

    @Test
    void latchesTakeDurations() throws InterruptedException {
        String name = keyspace.name("latch");
        try (Interlock session = Interlock.connect(RedisServer.provided().url());
                Actor actor = new Actor("waiter")) {
            DistributedCountDownLatch latch = session.countDownLatch(name, 1, Duration.ofSeconds(1));
            for (Duration noTime : NO_TIME) {
                assertThat(latch.await(noTime)).isFalse();
            }
            assertThat(latch.await(Duration.ofMillis(1))).isFalse();
            assertThatNullPointerException().isThrownBy(() -> latch.await(null)).withMessageContaining("timeout");
            CompletableFuture<Boolean> waiting = actor.ask(() -> latch.await(FOREVER));
            awaitWaiting(actor);
            other.countDownLatch(name, 1).countDown();
            assertThat(waiting).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
            assertThat(latch.await(Duration.ZERO)).isTrue();
        }
    }

    @Test
    void barriersTakeDurations() throws InterruptedException, BrokenBarrierException, TimeoutException {
        String name = keyspace.name("barrier");
        try (Interlock session = Interlock.connect(RedisServer.provided().url());
                Interlock second = Interlock.connect(RedisServer.provided().url());
                Actor actor = new Actor("waiter")) {
            DistributedCyclicBarrier ours = session.cyclicBarrier(name, 2);
            DistributedCyclicBarrier theirs = second.cyclicBarrier(name, 2);
            for (Duration noTime : NO_TIME) {
                assertThatThrownBy(() -> ours.await(noTime)).isInstanceOf(TimeoutException.class);
                ours.reset();
            }
            assertThatNullPointerException().isThrownBy(() -> ours.await(null)).withMessageContaining("timeout");
            CompletableFuture<Integer> waiting = actor.ask(() -> theirs.await(FOREVER));
            await("arrival").until(() -> ours.getNumberWaiting() == 1);
            assertThat(ours.await(Duration.ofDays(1))).isZero();
            assertThat(waiting).succeedsWithin(20, TimeUnit.SECONDS).isEqualTo(1);
        }
    }
}
