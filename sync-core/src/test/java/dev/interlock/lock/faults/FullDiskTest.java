package dev.interlock.lock.faults;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RespError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/**
 * The disk of Redis is full for a moment, so that it refuses all writes (MISCONF). Waits go on, and returned locks,
 * permits and counts are sent again: all of it happens long before a lease is over.
 */
@Tag("proof")
class FullDiskTest extends FaultFixture {
    private static final String NAME = "stock";

    @Override
    protected List<String> serverArguments() {
        return List.of("--enable-protected-configs", "yes");
    }

    @Override
    protected String lasting() {
        return "mark|token|turns|signals|latch|semaphore|barrier|rate";
    }

    /** The first snapshot that fails is one over a folder. */
    @Override
    protected void launchOthers() {
        mend();
        List<?> answer = (List<?>) requireNonNull(server().command("CONFIG", "GET", "dir"));
        try {
            Files.createDirectory(Path.of(String.valueOf(answer.get(1)), "folder"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        server().command("CONFIG", "SET", "dbfilename", "folder");
        server().command("CONFIG", "SET", "save", "3600 1000000");
        server().command("BGSAVE");
        await("the snapshot has failed")
                .until(() ->
                        String.valueOf(server().command("INFO", "persistence")).contains("rdb_last_bgsave_status:err"));
    }

    private void fill() {
        server().command("CONFIG", "SET", "stop-writes-on-bgsave-error", "yes");
        assertThatThrownBy(() -> server().command("SET", "anything", "x"))
                .isInstanceOf(RespError.class)
                .hasMessageStartingWith("MISCONF");
    }

    @AfterEach
    void mend() {
        server().command("CONFIG", "SET", "stop-writes-on-bgsave-error", "no");
    }

    private void awaitLasts(CompletableFuture<?> wait) {
        await("it lasts").during(Duration.ofMillis(400)).until(() -> !wait.isDone());
    }

    /** Asserts that a thread waits as long as nothing can be written, and no longer. */
    private void assertLastsUntilMended(CompletableFuture<Boolean> wait) {
        awaitLasts(wait);
        mend();
        assertThat(wait).succeedsWithin(PATIENCE);
    }

    @Test
    void aReleaseIsRepeated() {
        DistributedReentrantLock lock = lock(session(), NAME);
        DistributedReentrantLock wanted = lock(session(), NAME);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(lock::lock);
        CompletableFuture<Boolean> entered = queue(waiter, wanted);
        fill();
        holder.run(lock::unlock);
        assertLastsUntilMended(entered);
        waiter.run(wanted::unlock);
    }

    @Test
    void whoWaitsForALockGoesOnWaiting() {
        DistributedReentrantLock lock = lock(session(), NAME);
        fill();
        Actor waiter = actor("waiter");
        CompletableFuture<Boolean> entered = waiter.begin(lock::lock);
        assertLastsUntilMended(entered);
        waiter.run(lock::unlock);
    }

    @Test
    void aSignalArrives() {
        DistributedReentrantLock lock = lock(session(), NAME);
        DistributedReentrantLock wanted = lock(session(), NAME);
        Condition changed = lock.newCondition();
        Condition awaited = wanted.newCondition();
        Actor signaller = actor("signaller");
        Actor waiter = actor("waiter");
        waiter.run(wanted::lock);
        CompletableFuture<Boolean> signalled = waiter.begin(awaited::await);
        signaller.run(lock::lock);
        fill();
        signaller.run(() -> {
            changed.signal();
            lock.unlock();
        });
        assertLastsUntilMended(signalled);
        waiter.run(wanted::unlock);
    }

    @Test
    void aCountDownIsRepeated() throws InterruptedException {
        DistributedCountDownLatch latch = session().countDownLatch(NAME, 2);
        DistributedCountDownLatch other = session().countDownLatch(NAME, 2);
        CompletableFuture<Boolean> passes = actor("waiter").begin(latch::await);
        fill();
        latch.countDown();
        awaitLasts(passes);
        mend();
        await("counted").ignoreExceptions().until(() -> other.getCount() == 1);
        latch.countDown();
        assertThat(passes).succeedsWithin(PATIENCE);
        other.await();
    }

    @Test
    void aReturnedPermitIsToldAgain() {
        DistributedSemaphore semaphore = session().semaphore(NAME, 1);
        DistributedSemaphore wanted = session().semaphore(NAME, 1);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        holder.run(semaphore::acquire);
        CompletableFuture<Boolean> entered = waiter.begin(wanted::acquire);
        await("it waits").until(() -> wanted.getQueueLength() == 1);
        fill();
        holder.run(semaphore::release);
        assertLastsUntilMended(entered);
        waiter.run(wanted::release);
    }

    @Test
    void aBarrierTripsLater() {
        DistributedCyclicBarrier barrier = session().cyclicBarrier(NAME, 2);
        DistributedCyclicBarrier other = session().cyclicBarrier(NAME, 2);
        CompletableFuture<Integer> first = actor("first").ask(barrier::await);
        await("arrived").until(() -> other.getNumberWaiting() == 1);
        fill();
        CompletableFuture<Integer> second = actor("second").ask(other::await);
        awaitLasts(second);
        mend();
        assertThat(first).succeedsWithin(PATIENCE).isEqualTo(1);
        assertThat(second).succeedsWithin(PATIENCE).isEqualTo(0);
    }

    @Test
    void aRequestForPermitsOfARateLimiterIsRepeated() {
        Interlock patient = session(builder -> builder.commandTimeout(PATIENCE));
        RateLimiter limiter = patient.rateLimiter(NAME, RateLimit.fixedWindow(3, Duration.ofSeconds(1)));
        fill();
        CompletableFuture<Boolean> admitted = limiter.tryAcquireAsync(1);
        awaitLasts(admitted);
        mend();
        assertThat(admitted).succeedsWithin(PATIENCE).isEqualTo(true);
        await("its state is over").until(() -> server().keys("*" + NAME + "*").isEmpty());
    }

    @Test
    void anAdaptedLockIsReleasedLater() {
        RedissonClient client = client(server().url());
        RLock known = client.getLock("adapted");
        DistributedReentrantLock lock =
                free(over(client(proxy().url()), builder -> builder).adapt(known));
        Actor holder = actor("holder");
        holder.run(lock::lock);
        fill();
        holder.run(lock::unlock);
        mend();
        await("free").until(() -> !known.isLocked());
    }

    @Test
    void aPermitOfAnAdaptedSemaphoreIsReturnedLater() {
        RedissonClient client = client(proxy().url());
        RSemaphore counted = client.getSemaphore("adapted");
        counted.trySetPermits(1);
        DistributedSemaphore semaphore = over(client, builder -> builder).adapt(counted);
        Actor holder = actor("holder");
        holder.run(semaphore::acquire);
        fill();
        holder.run(semaphore::release);
        mend();
        await("returned").until(() -> counted.availablePermits() == 1);
        counted.delete();
    }

    @Test
    void anAdaptedLatchIsCountedDownLater() {
        RedissonClient client = client(proxy().url());
        RCountDownLatch counted = client.getCountDownLatch("adapted");
        counted.trySetCount(2);
        DistributedCountDownLatch latch = over(client, builder -> builder).adapt(counted);
        fill();
        assertThatThrownBy(latch::countDown).hasMessageContaining("adapted");
        mend();
        await("counted").until(() -> counted.getCount() == 1);
        latch.countDown();
        assertThat(counted.getCount()).isZero();
    }
}
