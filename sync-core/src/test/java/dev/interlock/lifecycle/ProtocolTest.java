package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.QuorumInterlock;
import dev.interlock.internal.SessionId;
import dev.interlock.ops.SessionView;
import dev.interlock.quorum.Nodes;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.ratelimit.RateLimiter;
import dev.interlock.testing.Actor;
import dev.interlock.testing.OtherVersion;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TestThreads;
import dev.interlock.testing.TwoSessions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Sessions of different protocols share no name: who comes to others is told so, and they never are inside together.
 */
class ProtocolTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final int OTHER = SessionId.PROTOCOL + 1;
    private static final int ENTRIES = 20;
    private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(60);

    private static RedisServer server;
    private static Interlock mine;
    private static OtherVersion other;

    private final String name = TwoSessions.nextName();
    private final Actor stranger = new Actor("stranger");

    private interface Call {
        void run() throws Exception;
    }

    /** Locks, as both sessions have them. */
    @SuppressWarnings("ImmutableEnumChecker") // functions without state
    enum Kind {
        LOCK(Interlock::lock, OtherVersion::lock),
        FAIR_LOCK(Interlock::fairLock, OtherVersion::fairLock),
        READ_AND_WRITE(
                (session, name) -> session.readWriteLock(name).readLock(),
                (session, name) -> session.readWriteLock(name).writeLock()),
        WRITE_AND_READ(
                (session, name) -> session.readWriteLock(name).writeLock(),
                (session, name) -> session.readWriteLock(name).readLock());

        final BiFunction<Interlock, String, Lock> here;
        final BiFunction<OtherVersion, String, Lock> there;

        Kind(BiFunction<Interlock, String, Lock> here, BiFunction<OtherVersion, String, Lock> there) {
            this.here = here;
            this.there = there;
        }
    }

    @BeforeAll
    static void launch() {
        server = RedisServer.launch();
        mine = Interlock.connect(server.url());
        other = OtherVersion.ofProtocol(OTHER, server.url());
    }

    @AfterAll
    static void end() {
        mine.close();
        other.close();
        server.close();
    }

    @AfterEach
    void endStranger() {
        stranger.close();
    }

    private void assertRefused(Call call, int theirs, int own) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("Sessions of another version of Interlock use ")
                .hasMessageContaining("'" + name + "'")
                .hasMessageEndingWith("they speak its protocol " + theirs + ", and this session speaks " + own);
    }

    private void assertRefused(Call call) {
        assertRefused(call, OTHER, SessionId.PROTOCOL);
    }

    private void assertRefused(Lock lock) {
        assertRefused(lock::lock);
        assertRefused(lock::lockInterruptibly);
        assertRefused(() -> assertThat(lock.tryLock()).isFalse());
        assertRefused(() -> assertThat(lock.tryLock(5, TimeUnit.SECONDS)).isFalse());
    }

    /** Enters when the others have left, who may take a moment to give the name up. */
    private static void enter(Lock lock) {
        await("the name is free")
                .atMost(PATIENCE)
                .pollInSameThread()
                .ignoreExceptionsInstanceOf(IllegalStateException.class)
                .until(() -> {
                    lock.lock();
                    return true;
                });
    }

    @ParameterizedTest
    @EnumSource
    void aLockThatSessionsOfAnotherProtocolHoldIsRefused(Kind kind) {
        Lock here = kind.here.apply(mine, name);
        Lock there = kind.there.apply(other, name);
        stranger.run(there::lock);
        assertRefused(here);
        stranger.run(there::unlock);
        enter(here);
        assertThatThrownBy(() -> stranger.run(there::lock))
                .hasStackTraceContaining(
                        "they speak its protocol " + SessionId.PROTOCOL + ", and this session speaks " + OTHER);
        here.unlock();
    }

    @ParameterizedTest
    @EnumSource(names = {"LOCK", "FAIR_LOCK"})
    void aLockThatSessionsOfAnotherProtocolWaitForIsRefused(Kind kind) {
        Config config = new Config();
        config.useSingleServer().setAddress(server.url());
        RedissonClient plain = Redisson.create(config);
        plain.getLock(name).lock();
        Future<?> waiting = stranger.begin(kind.there.apply(other, name)::lock);
        await("a ticket").atMost(PATIENCE).until(() -> !server.keys("*queue*").isEmpty());
        assertRefused(kind.here.apply(mine, name));
        plain.shutdown();
        server.command("DEL", name);
        assertThat(waiting).succeedsWithin(PATIENCE);
        stranger.run(kind.there.apply(other, name)::unlock);
    }

    @Test
    @SuppressWarnings("WaitNotInLoop") // what ends the wait is known
    void aLockOfWhoseConditionsAnotherProtocolHasWaitersIsRefused() {
        var there = other.lock(name);
        var condition = there.newCondition();
        Future<?> waiting = stranger.begin(() -> {
            there.lock();
            try {
                condition.await();
            } finally {
                there.unlock();
            }
        });
        String waiters = "interlock:{" + name + "}:conditions";
        await("a waiter")
                .atMost(PATIENCE)
                .until(() -> server.command("EXISTS", waiters, name), Long.valueOf(1)::equals);
        assertRefused(mine.lock(name));
        try (var signaller = new Actor("signaller")) {
            signaller.run(() -> {
                there.lock();
                condition.signal();
                there.unlock();
            });
        }
        assertThat(waiting).succeedsWithin(PATIENCE);
    }

    @Test
    void aSemaphoreIsRefusedForAsLongAsItIsThere() {
        Semaphore there = other.semaphore(name, 2);
        stranger.run(there::acquire);
        assertRefused(() -> mine.semaphore(name, 2).acquire());
        stranger.run(there::release);
        assertRefused(() -> mine.semaphore(name, 2).tryAcquire());
        assertRefused(() -> mine.semaphore(name, 2).availablePermits());
        server.keys("*" + name + "*").forEach(key -> server.command("DEL", key));
        assertThat(mine.semaphore(name, 2).tryAcquire()).isTrue();
        mine.semaphore(name, 2).release();
    }

    @Test
    void aLatchIsRefused() {
        other.countDownLatch(name, 2).countDown();
        assertRefused(() -> {
            DistributedCountDownLatch latch = mine.countDownLatch(name, 2);
            latch.countDown();
            latch.await();
        });
        assertThat(other.countDownLatch(name, 2).getCount()).isEqualTo(1);
    }

    @Test
    void aBarrierIsRefused() {
        CyclicBarrier there = other.cyclicBarrier(name, 2, null);
        Future<?> waiting = stranger.ask(there::await);
        await("one has come").atMost(PATIENCE).until(() -> there.getNumberWaiting() == 1);
        assertRefused(() -> {
            DistributedCyclicBarrier here = mine.cyclicBarrier(name, 2);
            var unused = here.await();
        });
        assertThat(there.getNumberWaiting()).isEqualTo(1);
        try (var second = new Actor("second")) {
            assertThat(second.ask(there::await)).succeedsWithin(PATIENCE);
        }
        assertThat(waiting).succeedsWithin(PATIENCE);
    }

    /** The count is one as a later protocol would write it. */
    @Test
    void aRateLimitIsRefused() {
        String counts = (char) (1 + 16 * (OTHER - 1)) + "\0".repeat(58);
        server.command("HSET", "interlock:{" + name + "}:rate", "counts", counts);
        RateLimiter limiter = mine.rateLimiter(name, RateLimit.tokenBucket(10, Duration.ofSeconds(1)));
        assertRefused(() -> assertThat(limiter.tryAcquire()).isTrue());
    }

    @Test
    void aQuorumLockIsRefused() {
        try (Nodes nodes = Nodes.launch(3)) {
            List<RedissonClient> clients = Nodes.clients(nodes.urls());
            String owner = "interlock-" + OTHER + "-somebody:1";
            for (int i = 0; i < 2; i++) {
                nodes.node(i).command("HSET", "interlock:{" + name + "}:quorum", owner, "1");
            }
            try (QuorumInterlock quorum = Interlock.quorum(clients)) {
                DistributedReentrantLock lock = quorum.lock(name);
                assertRefused(lock::lock);
                assertRefused(() -> assertThat(lock.tryLock()).isFalse());
            }
            clients.forEach(RedissonClient::shutdown);
        }
    }

    @Test
    void bothAreNeverInside() {
        var inside = new AtomicInteger();
        var entered = List.of(new AtomicInteger(), new AtomicInteger());
        try (var threads = new TestThreads(PATIENCE)) {
            List<TestThreads.Running<Boolean>> running = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                int side = i % 2;
                Lock lock = side == 0 ? mine.lock(name) : other.lock(name);
                running.add(threads.start("side " + side, () -> {
                    while (entered.stream().anyMatch(count -> count.get() < ENTRIES)) {
                        contend(lock, inside, entered.get(side));
                        // Longer than a session keeps a name.
                        LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MOST_PAUSE_NANOS));
                    }
                }));
            }
            running.forEach(TestThreads.Running::result);
        }
    }

    private static void contend(Lock lock, AtomicInteger inside, AtomicInteger entered) throws InterruptedException {
        try {
            lock.lock();
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("another version");
            return;
        }
        try {
            assertThat(inside.incrementAndGet()).isEqualTo(1);
            LockSupport.parkNanos(1_000);
            assertThat(inside.decrementAndGet()).isZero();
            entered.incrementAndGet();
        } finally {
            lock.unlock();
        }
    }

    @Test
    void operatorsSeeVersionsAndProtocols() {
        List<SessionView> sessions = mine.operator().sessions();
        assertThat(sessions).extracting(SessionView::id).contains(mine.id(), other.id());
        for (SessionView session : sessions) {
            assertThat(session.protocol()).isEqualTo(session.id().equals(other.id()) ? OTHER : SessionId.PROTOCOL);
            assertThat(session.version()).matches("\\d+\\.\\d+\\.\\d+(-SNAPSHOT)?");
        }
    }
}
