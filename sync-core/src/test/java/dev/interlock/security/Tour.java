package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.LockOptions;
import dev.interlock.SemaphoreOptions;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Two sessions go through all synchronizers, and contend for each: whatever command there is, that is sent. Every name
 * begins with {@code app:}.
 */
@SuppressWarnings("WaitNotInLoop") // what ends a wait is known
final class Tour implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final RedisServer server;
    private final Interlock first;
    private final Interlock second;
    private final Recorder recorder = new Recorder();
    private final ConcurrentMap<String, Actor> actors = new ConcurrentHashMap<>();

    /**
     * Opens the sessions.
     *
     * @param server to look at, with all rights
     * @param one the sessions are clients of a server, each by one of these
     * @param other the other
     */
    Tour(RedisServer server, UnaryOperator<InterlockBuilder> one, UnaryOperator<InterlockBuilder> other) {
        this.server = server;
        this.first = one.apply(brisk().listener(recorder)).open();
        try {
            this.second = other.apply(brisk()).open();
        } catch (RuntimeException e) {
            first.close();
            throw e;
        }
    }

    private static InterlockBuilder brisk() {
        return Interlock.builder().namespace("app").lease(Duration.ofSeconds(1));
    }

    /** Everything but what needs Redisson's objects. */
    void all(RedissonClient neighbour) {
        locks();
        besidePlainLocks(neighbour);
        conditions();
        readersAndWriters();
        semaphores();
        latches();
        barriers();
        rates();
    }

    void locks() {
        DistributedReentrantLock quiet = first.lock("quiet");
        for (int i = 0; i < 6; i++) {
            quiet.lock();
            quiet.unlock();
        }
        handOver("lock", first.lock("lock"), second.lock("lock"));
        handOver("fair", first.fairLock("fair"), second.fairLock("fair"));
        LockOptions retained = LockOptions.retain(Duration.ofMinutes(1));
        actor("one").run(() -> {
            first.lock("retained", retained).lock();
            first.lock("retained", retained).unlock();
        });
        actor("two").run(() -> {
            second.lock("retained", retained).lock();
            second.lock("retained", retained).unlock();
        });
        DistributedReentrantLock renewed = first.lock("renewed");
        renewed.lock();
        int before = recorder.count(Recorder.Kind.RENEWED);
        await("renewal").until(() -> recorder.count(Recorder.Kind.RENEWED) > before);
        assertThat(renewed.isRemotelyLocked()).isTrue();
        assertThat(renewed.fencingToken()).isPositive();
        renewed.unlock();
    }

    private void handOver(String name, Lock held, Lock wanted) {
        actor("one").run(held::lock);
        CompletableFuture<Boolean> entered = actor("two").begin(wanted::lock);
        awaitTickets("app:" + name, 1);
        actor("one").run(held::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        CompletableFuture<Boolean> left = actor("one")
                .begin(() -> assertThat(held.tryLock(20, TimeUnit.MILLISECONDS)).isFalse());
        assertThat(left).succeedsWithin(PATIENCE);
        actor("two").run(wanted::unlock);
    }

    /** A plain client stands by, has the lock, and takes its turn. */
    void besidePlainLocks(RedissonClient neighbour) {
        RLock plain = neighbour.getLock("app:shared");
        DistributedReentrantLock ours = first.lock("shared");
        DistributedReentrantLock others = second.lock("shared");
        actor("plain").run(plain::lock);
        CompletableFuture<Boolean> entered = actor("one").begin(ours::lock);
        awaitTickets("app:shared", 1);
        actor("plain").run(plain::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        CompletableFuture<Boolean> next = actor("two").begin(others::lock);
        awaitTickets("app:shared", 1);
        CompletableFuture<Boolean> last = actor("plain").begin(plain::lock);
        await("the plain client listens")
                .until(() -> String.valueOf(server.command("PUBSUB", "CHANNELS", "redisson_lock*"))
                        .contains("app:shared"));
        actor("one").run(ours::unlock);
        assertThat(next).succeedsWithin(PATIENCE);
        actor("two").run(others::unlock);
        assertThat(last).succeedsWithin(PATIENCE);
        actor("plain").run(plain::unlock);
    }

    void conditions() {
        DistributedReentrantLock here = first.lock("conditions");
        DistributedReentrantLock there = second.lock("conditions");
        Condition arrived = here.newCondition("arrived");
        Condition awaited = there.newCondition("arrived");
        for (boolean all : List.of(true, false)) {
            CompletableFuture<Boolean> returned = actor("two").begin(() -> {
                there.lock();
                awaited.await();
                there.unlock();
            });
            await("a waiter").until(() -> size("conditions", "app:conditions") == 1);
            actor("one").run(() -> {
                here.lock();
                if (all) {
                    arrived.signalAll();
                } else {
                    arrived.signal();
                }
            });
            // With a thread of its own next, the session sends signals ahead of its release.
            CompletableFuture<Boolean> next = actor("three").begin(() -> {
                here.lock();
                assertThat(here.getWaitQueueLength(arrived)).isZero();
                here.unlock();
            });
            await("queued").until(() -> here.hasQueuedThread(actor("three").thread()));
            actor("one").run(here::unlock);
            assertThat(next).succeedsWithin(PATIENCE);
            assertThat(returned).succeedsWithin(PATIENCE);
        }
        actor("two").run(() -> {
            there.lock();
            assertThat(awaited.await(50, TimeUnit.MILLISECONDS)).isFalse();
            there.unlock();
        });
    }

    void readersAndWriters() {
        for (String name : List.of("rw", "fair-rw")) {
            DistributedReadWriteLock here = readWriteLock(first, name);
            DistributedReadWriteLock there = readWriteLock(second, name);
            actor("one").run(here.readLock()::lock);
            actor("two").run(there.readLock()::lock);
            int before = recorder.count(Recorder.Kind.RENEWED);
            await("renewal").until(() -> recorder.count(Recorder.Kind.RENEWED) > before);
            actor("one").run(here.readLock()::unlock);
            CompletableFuture<Boolean> writes = actor("one").begin(here.writeLock()::lock);
            awaitTickets("interlock:{app:" + name + "}:rw", 1);
            actor("two").run(there.readLock()::unlock);
            assertThat(writes).succeedsWithin(PATIENCE);
            CompletableFuture<Boolean> reads = actor("two").begin(there.readLock()::lock);
            awaitTickets("interlock:{app:" + name + "}:rw", 1);
            actor("one").run(() -> {
                here.readLock().lock();
                here.writeLock().unlock();
            });
            assertThat(reads).succeedsWithin(PATIENCE);
            actor("one").run(here.readLock()::unlock);
            actor("two").run(there.readLock()::unlock);
        }
    }

    private static DistributedReadWriteLock readWriteLock(Interlock session, String name) {
        return name.startsWith("fair") ? session.fairReadWriteLock(name) : session.readWriteLock(name);
    }

    void semaphores() {
        for (String name : List.of("semaphore", "unowned")) {
            SemaphoreOptions options = name.equals("unowned") ? SemaphoreOptions.unowned() : SemaphoreOptions.fair();
            DistributedSemaphore here = first.semaphore(name, 2, options);
            DistributedSemaphore there = second.semaphore(name, 2, options);
            actor("one").run(() -> here.acquire(2));
            CompletableFuture<Boolean> entered = actor("two").begin(() -> there.acquire());
            await("a waiter").until(() -> number("ZCARD", "interlock:{app:" + name + "}:semaphore-queue") == 1);
            actor("one").run(() -> here.release(2));
            assertThat(entered).succeedsWithin(PATIENCE);
            assertThat(here.tryAcquire()).isTrue();
            actor("two").run(there::release);
            assertThat(here.drainPermits()).isEqualTo(1);
            here.release(2);
            here.resize(3);
        }
    }

    void latches() {
        DistributedCountDownLatch here = first.countDownLatch("latch", 2);
        DistributedCountDownLatch there = second.countDownLatch("latch", 2, Duration.ofSeconds(1));
        CompletableFuture<Boolean> passed = actor("two").begin(() -> there.await());
        await("a waiter").until(() -> number("ZCARD", "interlock:waiters:interlock:{app:latch}:latch") == 1);
        here.countDown();
        here.countDown();
        assertThat(passed).succeedsWithin(PATIENCE);
    }

    void barriers() {
        DistributedCyclicBarrier here = first.cyclicBarrier("barrier", 2);
        DistributedCyclicBarrier there = second.cyclicBarrier("barrier", 2);
        for (int generation = 0; generation < 3; generation++) {
            List<CompletableFuture<Integer>> places =
                    List.of(actor("one").ask(() -> here.await()), actor("two").ask(() -> there.await()));
            assertThat(places).allSatisfy(place -> assertThat(place).succeedsWithin(PATIENCE));
        }
        here.reset();
    }

    void rates() {
        Duration second = Duration.ofSeconds(1);
        for (RateLimit limit : Stream.of(
                        RateLimit.fixedWindow(2, second),
                        RateLimit.slidingWindow(2, second),
                        RateLimit.tokenBucket(2, second))
                .toList()) {
            RateLimiter limiter = first.rateLimiter("rate-" + limit.algorithm(), limit);
            for (int i = 0; i < 4; i++) {
                limiter.tryAcquire();
            }
            assertThat(limiter.forKey("user").tryAcquire()).isTrue();
            limiter.update(limit);
        }
    }

    /** Redisson's objects, through adapters. */
    void adapted(RedissonClient one, RedissonClient other) {
        contend("lock", first.adapt(one.getLock("app:lock")), second.adapt(other.getLock("app:lock")));
        contend("fair", first.adapt(one.getFairLock("app:fair")), second.adapt(other.getFairLock("app:fair")));
        contend(
                "fenced",
                first.adapt(one.getFencedLock("app:fenced")),
                second.adapt(other.getFencedLock("app:fenced")));
        contend("spin", first.adapt(one.getSpinLock("app:spin")), second.adapt(other.getSpinLock("app:spin")));
        DistributedReadWriteLock here = first.adapt(one.getReadWriteLock("app:read-write"));
        DistributedReadWriteLock there = second.adapt(other.getReadWriteLock("app:read-write"));
        contend("writers", here.writeLock(), there.writeLock());
        contend("reader and writer", here.readLock(), there.writeLock());
        contend("writer and reader", here.writeLock(), there.readLock());
        actor("one").run(() -> {
            here.writeLock().lock();
            here.readLock().lock();
            here.writeLock().unlock();
            here.readLock().unlock();
        });
        assertThat(one.getSemaphore("app:permits").trySetPermits(1)).isTrue();
        DistributedSemaphore permits = first.adapt(one.getSemaphore("app:permits"));
        DistributedSemaphore same = second.adapt(other.getSemaphore("app:permits"));
        actor("one").run(() -> permits.acquire());
        CompletableFuture<Boolean> entered = actor("two").begin(() -> same.acquire());
        await("a waiter").until(() -> same.hasQueuedThreads() || !entered.isDone());
        actor("one").run(() -> permits.release());
        assertThat(entered).succeedsWithin(PATIENCE);
        actor("two").run(() -> same.release());
        assertThat(permits.drainPermits()).isEqualTo(1);
        permits.release();
        assertThat(permits.availablePermits()).isEqualTo(1);
        assertThat(one.getCountDownLatch("app:count").trySetCount(1)).isTrue();
        DistributedCountDownLatch latch = first.adapt(one.getCountDownLatch("app:count"));
        DistributedCountDownLatch waited = second.adapt(other.getCountDownLatch("app:count"));
        CompletableFuture<Boolean> passed = actor("two").begin(() -> waited.await());
        assertThat(waited.getCount()).isEqualTo(1);
        latch.countDown();
        assertThat(passed).succeedsWithin(PATIENCE);
    }

    private void contend(String what, Lock held, Lock wanted) {
        actor("one").run(held::lock);
        CompletableFuture<Boolean> failed = actor("two")
                .begin(() -> assertThat(wanted.tryLock(50, TimeUnit.MILLISECONDS))
                        .as(what)
                        .isFalse());
        assertThat(failed).succeedsWithin(PATIENCE);
        CompletableFuture<Boolean> entered = actor("two").begin(wanted::lock);
        actor("one").run(held::unlock);
        assertThat(entered).as(what).succeedsWithin(PATIENCE);
        actor("two").run(wanted::unlock);
    }

    private Actor actor(String name) {
        return actors.computeIfAbsent(name, Actor::new);
    }

    private void awaitTickets(String key, long count) {
        await("tickets for " + key).until(() -> size("queue", key) == count);
    }

    private long size(String kind, String key) {
        return number("ZCARD", "interlock:{" + key + "}:" + kind) + number("ZCARD", "interlock:" + kind + ":" + key);
    }

    private long number(String... command) {
        return server.command(command) instanceof Long number ? number : -1;
    }

    private static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2));
    }

    @Override
    public void close() {
        second.close();
        first.close();
        actors.values().forEach(Actor::close);
    }
}
