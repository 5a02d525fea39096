package dev.interlock.input;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.QuorumInterlock;
import dev.interlock.quorum.Nodes;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.testing.Actor;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Lock;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.redisson.api.RedissonClient;

/** Any text is a name, however odd it is: it works across sessions, and is told apart from similar names. */
class OddNamesTest {
    private static Interlock mine;
    private static Interlock other;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @BeforeAll
    static void open() {
        mine = Interlock.connect(RedisServer.provided().url());
        other = Interlock.connect(RedisServer.provided().url());
    }

    @AfterAll
    static void close() {
        mine.close();
        other.close();
    }

    static Stream<String> oddNames() {
        return Stream.of(
                " ",
                "\n",
                "\0",
                "a b  c",
                "1 2 3",
                ":",
                "::1:2:3",
                "with:r",
                "with:o",
                "interlock:a",
                "{",
                "}",
                "{}",
                "{x}",
                "x{y}z:w",
                "}{",
                "%s%d",
                "'\"",
                "\\",
                "*?[a-z]",
                "é😀",
                "ß",
                "\u0001\u001b\u007f\u0085\u2028",
                "x".repeat(300));
    }

    private static void assertExcludes(Lock lock, Lock rival, Lock neighbour) throws InterruptedException {
        lock.lock();
        try {
            assertThat(rival.tryLock()).isFalse();
            assertThat(rival.tryLock(10, TimeUnit.MILLISECONDS)).isFalse();
            assertThat(neighbour.tryLock()).isTrue();
            neighbour.unlock();
        } finally {
            lock.unlock();
        }
        assertThat(rival.tryLock(20, TimeUnit.SECONDS)).isTrue();
        rival.unlock();
    }

    @ParameterizedTest
    @MethodSource("oddNames")
    void oddNamesAreNamesOfLocks(String odd) throws InterruptedException {
        String name = odd + keyspace.name("odd") + odd;
        assertThat(mine.lock(name).getName()).isEqualTo(name);
        assertExcludes(mine.lock(name), other.lock(name), other.lock(name + odd + "x"));
        DistributedReadWriteLock pair = mine.readWriteLock(name);
        DistributedReadWriteLock rival = other.readWriteLock(name);
        DistributedReadWriteLock neighbour = other.readWriteLock(name + "x");
        assertThat(pair.getName()).isEqualTo(name);
        pair.readLock().lock();
        assertThat(rival.readLock().tryLock()).isTrue();
        rival.readLock().unlock();
        pair.readLock().unlock();
        assertExcludes(pair.readLock(), rival.writeLock(), neighbour.writeLock());
    }

    @ParameterizedTest
    @MethodSource("oddNames")
    void oddNamesAreNamesOfSemaphores(String odd) {
        String name = odd + keyspace.name("odd") + odd;
        DistributedSemaphore semaphore = mine.semaphore(name, 1);
        assertThat(semaphore.getName()).isEqualTo(name);
        assertThat(semaphore.tryAcquire()).isTrue();
        assertThat(other.semaphore(name, 1).tryAcquire()).isFalse();
        assertThat(other.semaphore(name + "x", 1).tryAcquire()).isTrue();
        other.semaphore(name + "x", 1).release();
        semaphore.release();
    }

    @ParameterizedTest
    @MethodSource("oddNames")
    void oddNamesAreNamesOfLatches(String odd) throws InterruptedException {
        String name = odd + UUID.randomUUID() + odd;
        DistributedCountDownLatch latch = mine.countDownLatch(name, 2);
        DistributedCountDownLatch same = other.countDownLatch(name, 2);
        assertThat(latch.getName()).isEqualTo(name);
        same.countDown();
        assertThat(latch.getCount()).isEqualTo(1);
        assertThat(other.countDownLatch(name + "x", 1).getCount()).isEqualTo(1);
        latch.countDown();
        assertThat(same.await(20, TimeUnit.SECONDS)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("oddNames")
    void oddNamesAreNamesOfBarriers(String odd) throws InterruptedException, BrokenBarrierException, TimeoutException {
        String name = odd + UUID.randomUUID() + odd;
        DistributedCyclicBarrier barrier = mine.cyclicBarrier(name, 2);
        DistributedCyclicBarrier same = other.cyclicBarrier(name, 2);
        assertThat(barrier.getName()).isEqualTo(name);
        try (Actor party = new Actor("party")) {
            CompletableFuture<Integer> arrived = party.ask(same::await);
            assertThat(barrier.await(20, TimeUnit.SECONDS)).isBetween(0, 1);
            assertThat(arrived).succeedsWithin(20, TimeUnit.SECONDS);
        }
    }

    @Test
    void oddNamesAreNamesOfQuorumLocks() throws InterruptedException {
        Nodes nodes = Nodes.launch(3);
        List<RedissonClient> clients = Nodes.clients(nodes.urls());
        try (nodes;
                QuorumInterlock session = Interlock.quorum(clients);
                QuorumInterlock rival = Interlock.quorum(clients)) {
            for (String odd : oddNames().toList()) {
                assertThat(session.lock(odd).getName()).isEqualTo(odd);
                assertExcludes(session.lock(odd), rival.lock(odd), rival.lock(odd + "neighbour"));
                assertThat(session.lock(odd).isRemotelyLocked()).isFalse();
            }
        } finally {
            clients.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        }
    }

    /** A pushed grant finds its way under an odd name, too: its message carries the name. */
    @Timely
    @ParameterizedTest
    @MethodSource("oddNames")
    void oddNamesAreGranted(String odd) {
        String name = odd + keyspace.name("odd") + odd;
        DistributedReentrantLock lock = mine.lock(name);
        DistributedReentrantLock rival = other.lock(name);
        try (Actor waiter = new Actor("waiter")) {
            lock.lock();
            CompletableFuture<Boolean> granted = waiter.begin(rival::lock);
            await().until(() -> keyspace.waiting(name) == 1);
            lock.unlock();
            long unlocked = System.nanoTime();
            assertThat(granted).succeedsWithin(Duration.ofSeconds(10));
            assertWithin(Duration.ofMillis(800), Duration.ofNanos(System.nanoTime() - unlocked));
            waiter.run(rival::unlock);
        }
    }

    /** Keys in which locks are kept are names of other things; so is what only begins like such a key, of locks. */
    @Test
    void keysOfLocksAreNamesOfOthers() {
        for (String key : List.of("interlock:{a}:rw", "interlock:{a}:queue", "interlock:queue:{a}", "interlock:{")) {
            assertThat(mine.semaphore(keyspace.name(key), 1).availablePermits()).isEqualTo(1);
        }
        assertThat(mine.lock("interlock:a").isLocked()).isFalse();
    }

    /** A name goes into keys, commands and messages; it has 1,024 bytes at most. */
    @Test
    void longestNamesWork() {
        String name = keyspace.name("x");
        String longest = name + "€".repeat((1_024 - name.length()) / 3);
        DistributedReentrantLock lock = mine.lock(longest);
        lock.lock();
        assertThat(other.lock(longest).tryLock()).isFalse();
        assertThat(lock.hasWaiters(lock.newCondition(longest))).isFalse();
        lock.unlock();
        RateLimit limit = RateLimit.fixedWindow(1, Duration.ofSeconds(1));
        assertThat(mine.rateLimiter(longest, limit).forKey(longest).tryAcquire())
                .isTrue();
    }
}
