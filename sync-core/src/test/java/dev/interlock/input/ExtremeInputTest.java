package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The shortest and longest leases, waits and limits work. A wait that overflows any clock is for ever, one of zero or
 * less asks once; the contracts say so of a number and a unit, these tests of a {@link Duration}.
 */
class ExtremeInputTest {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
    private static final List<Duration> NO_TIME =
            List.of(Duration.ZERO, Duration.ofNanos(-1), Duration.ofSeconds(Long.MIN_VALUE));

    private static RedisServer server;
    private static Interlock mine;
    private static Interlock other;

    @BeforeAll
    static void open() {
        server = RedisServer.launch();
        mine = Interlock.connect(server.url());
        other = Interlock.connect(server.url());
    }

    @AfterAll
    static void close() {
        mine.close();
        other.close();
        server.close();
    }

    private interface Attempt {
        boolean within(Duration wait) throws InterruptedException;
    }

    /** Something can be had, then can't while another session has it, then can be waited for. */
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
            CompletableFuture<Boolean> waiting = begin(actor, theirs);
            giveBack.run();
            assertThat(waiting).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
            actor.run(theyGiveBack::run);
        }
    }

    private static CompletableFuture<Boolean> begin(Actor actor, Attempt attempt) {
        CompletableFuture<Boolean> waiting = actor.ask(() -> attempt.within(FOREVER));
        await("a wait").until(() -> switch (actor.thread().getState()) {
            case WAITING, TIMED_WAITING -> true;
            default -> false;
        });
        assertThat(waiting).isNotDone();
        return waiting;
    }

    @Test
    void locksTakeExtremeDurations() throws InterruptedException {
        DistributedReentrantLock lock = mine.lock("waits");
        DistributedReentrantLock rival = other.lock("waits");
        assertWaits(lock::tryLock, lock::unlock, rival::tryLock, rival::unlock);
        DistributedReadWriteLock ours = mine.readWriteLock("waits");
        DistributedReadWriteLock theirs = other.readWriteLock("waits");
        assertWaits(
                ours.writeLock()::tryLock, ours.writeLock()::unlock,
                theirs.readLock()::tryLock, theirs.readLock()::unlock);
        assertWaits(
                ours.readLock()::tryLock, ours.readLock()::unlock,
                theirs.writeLock()::tryLock, theirs.writeLock()::unlock);
    }

    @Test
    void semaphoresTakeExtremeDurations() throws InterruptedException {
        DistributedSemaphore ours = mine.semaphore("waits", 2);
        DistributedSemaphore theirs = other.semaphore("waits", 2);
        assertWaits(wait -> ours.tryAcquire(2, wait), () -> ours.release(2), theirs::tryAcquire, theirs::release);
        assertThat(ours.tryAcquire(0, Duration.ZERO)).isTrue();
    }

    @Test
    void latchesTakeExtremeDurations() throws InterruptedException {
        DistributedCountDownLatch latch = mine.countDownLatch("waits", 1);
        for (Duration noTime : NO_TIME) {
            assertThat(latch.await(noTime)).isFalse();
        }
        assertThat(latch.await(Duration.ofMillis(1))).isFalse();
        try (Actor actor = new Actor("waiter")) {
            CompletableFuture<Boolean> waiting = begin(actor, latch::await);
            other.countDownLatch("waits", 1).countDown();
            assertThat(waiting).succeedsWithin(Duration.ofSeconds(20)).isEqualTo(true);
        }
        assertThat(latch.await(Duration.ZERO)).isTrue();
    }

    @Test
    void barriersTakeExtremeDurations() throws InterruptedException, BrokenBarrierException, TimeoutException {
        DistributedCyclicBarrier ours = mine.cyclicBarrier("waits", 2);
        DistributedCyclicBarrier theirs = other.cyclicBarrier("waits", 2);
        for (Duration noTime : NO_TIME) {
            assertThatThrownBy(() -> ours.await(noTime)).isInstanceOf(TimeoutException.class);
            ours.reset();
        }
        try (Actor actor = new Actor("waiter")) {
            CompletableFuture<Integer> waiting = actor.ask(() -> theirs.await(FOREVER));
            await("arrival").until(() -> ours.getNumberWaiting() == 1);
            assertThat(ours.await(Duration.ofDays(1))).isZero();
            assertThat(waiting).succeedsWithin(20, TimeUnit.SECONDS).isEqualTo(1);
        }
    }

    @Test
    void extremeLeasesAreTaken() throws InterruptedException {
        DistributedReentrantLock lock = mine.lock("leases");
        assertThat(lock.tryLock(Long.MIN_VALUE, TimeUnit.DAYS.toNanos(365), TimeUnit.NANOSECONDS))
                .isTrue();
        assertThat((Long) server.command("PTTL", "leases")).isGreaterThan(TimeUnit.DAYS.toMillis(364));
        assertThat(other.lock("leases").tryLock(Long.MIN_VALUE, 1, TimeUnit.DAYS))
                .isFalse();
        lock.unlock();
        assertThat(lock.tryLock(0, 100_000_000, TimeUnit.NANOSECONDS)).isTrue();
        try {
            assertThat((Long) server.command("PTTL", "leases")).isLessThanOrEqualTo(100);
            lock.unlock();
        } catch (LeaseLostException e) {
            assertThat(lock.isHeldByCurrentThread()).isFalse(); // 100 ms are soon over
        }
    }

    @Test
    void largestLimitsWorkToTheLastPermit() {
        Duration year = Duration.ofDays(366);
        long most = RateLimit.MOST_PERMITS;
        List<RateLimit> limits = List.of(
                RateLimit.fixedWindow(most, year),
                RateLimit.slidingWindow(most, year),
                RateLimit.tokenBucket(most, year),
                RateLimit.tokenBucket(most, Duration.ofMillis(1)),
                RateLimit.tokenBucket(1, year).withBurst(most));
        for (RateLimit limit : limits) {
            RateLimiter large = mine.rateLimiter("large-" + limits.indexOf(limit), limit);
            assertThat(large.decide(most - 1).remaining()).as("%s", limit).isBetween(1L, limit.burst());
            assertThat(large.decide(1).allowed()).isTrue();
        }
    }
}
