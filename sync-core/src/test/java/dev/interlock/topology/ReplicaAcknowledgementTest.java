package dev.interlock.topology;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.InterlockBuilder;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.TooLate;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SubscriptionMode;

/** A master with two replicas that lag or are frozen: what counts as acquired, by how many have to acknowledge it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SuppressWarnings("NullAway.Init") // before all tests
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class ReplicaAcknowledgementTest {
    private static final String NAME = "stock";
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** What an error says if the master itself hasn't answered in time. */
    private static final String SILENCE = "no answer";

    /** Longer than anything takes that isn't waited for. */
    private static final Duration WHILE = Duration.ofMillis(700);

    private final Deque<Runnable> opened = new ArrayDeque<>();
    private RedisServer master;
    private List<RedisServer> replicas;
    private RedissonClient client;

    @BeforeAll
    void launch() {
        master = RedisServer.launch("--repl-diskless-sync-delay", "0");
        String[] arguments = {
            "--replicaof", master.host(), Integer.toString(master.port()), "--repl-diskless-sync-delay", "0"
        };
        replicas = List.of(RedisServer.launch(arguments), RedisServer.launch(arguments));
        awaitReplicas();
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(2);
        config.setNettyThreads(2);
        config.useMasterSlaveServers()
                .setMasterAddress(master.url())
                .addSlaveAddress(replicas.stream().map(RedisServer::url).toArray(String[]::new))
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setMasterConnectionMinimumIdleSize(2)
                .setMasterConnectionPoolSize(16)
                .setSlaveConnectionMinimumIdleSize(1)
                .setSlaveConnectionPoolSize(2)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(4);
        client = Redisson.create(config);
    }

    @AfterEach
    void thaw() {
        replicas.forEach(RedisServer::resume);
        while (!opened.isEmpty()) {
            opened.pop().run();
        }
        awaitReplicas();
        await("nothing held")
                .until(() -> master.keys("*" + NAME + "*").stream()
                        .allMatch(key -> key.startsWith("interlock:")
                                && !Long.valueOf(-1).equals(master.command("PTTL", key))));
        master.command("FLUSHALL");
    }

    @AfterAll
    void shutDown() {
        client.shutdown(0, 2, TimeUnit.SECONDS);
        replicas.forEach(RedisServer::close);
        master.close();
    }

    private void awaitReplicas() {
        await("replicas online").until(() -> {
            String info = String.valueOf(master.command("INFO", "replication"));
            return info.split("state=online", -1).length == 3;
        });
    }

    private Interlock session(UnaryOperator<InterlockBuilder> settings) {
        Interlock session = settings.apply(Interlock.builder()
                        .client(client)
                        .commandTimeout(COMMAND_TIMEOUT)
                        .redisTimeout(REDIS_TIMEOUT))
                .open();
        opened.push(session::close);
        return session;
    }

    private Interlock session(int acknowledgements) {
        return session(builder -> builder.replicaAcknowledgements(acknowledgements));
    }

    private Actor actor(String name) {
        Actor actor = new Actor(name);
        opened.push(actor::close);
        return actor;
    }

    private static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5));
    }

    private static void assertPending(CompletableFuture<?> future) {
        await("still waiting").during(WHILE).until(() -> !future.isDone());
    }

    private void freezeAll() {
        replicas.forEach(RedisServer::pause);
    }

    private void awaitFree(String name) {
        await(name + " free").until(() -> Long.valueOf(0).equals(master.command("EXISTS", name)));
    }

    private static void assertUnacknowledged(String how, ThrowingCallable acquisition) {
        long begun = System.nanoTime();
        RedisUnavailableException failure = catchThrowableOfType(RedisUnavailableException.class, acquisition);
        assertWithin(PATIENCE, Duration.ofNanos(System.nanoTime() - begun));
        assertThat(failure).isNotNull().hasMessageContaining(NAME);
        Throwable cause = failure.getCause();
        if (cause != null && SILENCE.equals(cause.getMessage())) {
            throw new TooLate("the master's answer that no replica has acknowledged", failure);
        }
        assertThat(cause).isNotNull().hasMessageContaining(how);
    }

    private static void lockAndUnlock(DistributedReentrantLock lock) {
        lock.lock();
        lock.unlock();
    }

    // Who comes in the two seconds after a failure of an outage that is already too long fails at once.
    private static void assertWorksAgain(DistributedReentrantLock lock) {
        await("works again").ignoreExceptions().until(() -> {
            lockAndUnlock(lock);
            return true;
        });
    }

    /** Nobody is let in by what no replica has, nothing stays held, and the error says what was missing. */
    @Test
    void withAllReplicasFrozenNothingIsAcquired() {
        DistributedReentrantLock lock = session(1).lock(NAME);
        lockAndUnlock(lock);
        freezeAll();
        String missing = "0 of 2 replicas have acknowledged";
        assertUnacknowledged(missing, lock::lock);
        assertThat(lock.getHoldCount()).isZero();
        assertUnacknowledged(missing, () -> lock.tryLock(1, TimeUnit.SECONDS));
        assertUnacknowledged(missing, lock::tryLock);
        assertThat(lock.isLocked()).isFalse();
        awaitFree(NAME);
        replicas.forEach(RedisServer::resume);
        assertWorksAgain(lock);
    }

    /** That the master answers other commands of the session doesn't end the outage. */
    @Test
    @Tag("proof")
    void renewalsOfOtherNamesDoNotProlongTheWait() {
        Interlock session = session(builder -> builder.lease(Duration.ofMillis(900)));
        DistributedReentrantLock other = session.lock("other");
        DistributedReentrantLock lock = session.lock(NAME);
        other.lock();
        freezeAll();
        assertUnacknowledged("0 of 2 replicas have acknowledged", lock::lock);
        other.assertHeld();
        replicas.forEach(RedisServer::resume);
        assertWorksAgain(lock);
        other.unlock();
    }

    @Test
    @Tag("proof")
    void noPermitIsGrantedThatNoReplicaKnowsOf() {
        DistributedSemaphore semaphore = session(1).semaphore(NAME, 2);
        freezeAll();
        assertUnacknowledged("0 of 2 replicas have acknowledged", semaphore::acquire);
        replicas.forEach(RedisServer::resume);
        await("all back").ignoreExceptions().until(() -> semaphore.availablePermits() == 2);
    }

    @Test
    @Tag("proof")
    void noLatchOpensBeforeAReplicaKnows() {
        DistributedCountDownLatch latch = session(1).countDownLatch(NAME, 1);
        DistributedCountDownLatch waiting = session(1).countDownLatch(NAME, 1);
        CompletableFuture<Boolean> passed = actor("waiter").begin(waiting::await);
        freezeAll();
        latch.countDown();
        assertPending(passed);
        replicas.forEach(RedisServer::resume);
        assertThat(passed).succeedsWithin(PATIENCE);
    }

    /** A replica that lags delays an acquisition until it has caught up. */
    @Test
    void anAcquisitionWaitsForAReplicaThatLags() {
        DistributedReentrantLock lock = session(1).lock(NAME);
        Actor actor = actor("actor");
        freezeAll();
        CompletableFuture<Boolean> locked = actor.begin(lock::lock);
        assertPending(locked);
        replicas.get(1).resume();
        assertThat(locked).succeedsWithin(PATIENCE);
        assertThat(replicas.get(1).command("EXISTS", NAME)).isEqualTo(1L);
        actor.run(lock::unlock);
    }

    /** What another session's release has pushed is entered upon when a replica has it, too. */
    @Test
    void aPushedGrantWaitsForAReplica() {
        DistributedReentrantLock from = session(1).lock(NAME);
        DistributedReentrantLock to = session(1).lock(NAME);
        Actor giver = actor("giver");
        Actor taker = actor("taker");
        giver.run(from::lock);
        CompletableFuture<Boolean> taken = taker.begin(to::lock);
        await("queued").until(() -> Long.valueOf(1).equals(master.command("ZCARD", "interlock:{" + NAME + "}:queue")));
        freezeAll();
        giver.run(from::unlock);
        assertPending(taken);
        replicas.get(0).resume();
        assertThat(taken).succeedsWithin(PATIENCE);
        taker.run(to::unlock);
    }

    @Test
    void oneOfTwoIsEnoughByDefault() {
        DistributedReentrantLock lock = session(builder -> builder).lock(NAME);
        replicas.get(0).pause();
        lock.lock();
        assertThat(replicas.get(1).command("EXISTS", NAME)).isEqualTo(1L);
        lock.unlock();
    }

    @Test
    @Tag("proof")
    void asManyAsAreWantedHaveToAcknowledge() {
        DistributedReentrantLock lock = session(2).lock(NAME);
        lock.lock();
        replicas.forEach(replica ->
                assertThat(replica.command("EXISTS", NAME)).as("%s", replica).isEqualTo(1L));
        lock.unlock();
        replicas.get(0).pause();
        assertUnacknowledged("1 of 2 replicas have acknowledged", lock::lock);
        replicas.get(0).resume();
        assertWorksAgain(lock);
    }

    /** As on a single server, pushed grants included. */
    @Test
    void ifNoneAreWantedNoneAreWaitedFor() {
        DistributedReentrantLock from = session(0).lock(NAME);
        DistributedReentrantLock to = session(0).lock(NAME);
        Actor giver = actor("giver");
        Actor taker = actor("taker");
        freezeAll();
        giver.run(from::lock);
        CompletableFuture<Boolean> taken = taker.begin(to::lock);
        await("queued").until(() -> Long.valueOf(1).equals(master.command("ZCARD", "interlock:{" + NAME + "}:queue")));
        giver.run(from::unlock);
        assertThat(taken).succeedsWithin(PATIENCE);
        taker.run(to::unlock);
    }

    /** Of replicas that aren't there nobody waits for an acknowledgement. */
    @Test
    void moreThanThereAreMeansAll() {
        DistributedReentrantLock lock = session(5).lock(NAME);
        lock.lock();
        replicas.forEach(replica ->
                assertThat(replica.command("EXISTS", NAME)).as("%s", replica).isEqualTo(1L));
        lock.unlock();
    }

    /** Whoever would rather stop than go on with fewer replicas tells Redis so. */
    @Test
    @Tag("proof")
    void aMasterThatRefusesToWriteWithoutReplicasIsWaitedOut() {
        DistributedReentrantLock lock = session(1).lock(NAME);
        master.command("CONFIG", "SET", "min-replicas-max-lag", "1");
        master.command("CONFIG", "SET", "min-replicas-to-write", "2");
        try {
            replicas.get(0).pause();
            // The other one may lag for a moment, too: what the master counts is final only once it is this one.
            Pattern lags = Pattern.compile("port=" + replicas.get(0).port() + ",.*lag=([2-9]|\\d\\d)");
            await("refused").until(() -> {
                String info = String.valueOf(master.command("INFO", "replication"));
                return lags.matcher(info).find() && !info.contains("min_slaves_good_slaves:2");
            });
            assertUnacknowledged("NOREPLICAS", lock::lock);
            replicas.get(0).resume();
            assertWorksAgain(lock);
        } finally {
            master.command("CONFIG", "SET", "min-replicas-to-write", "0");
        }
    }

    /** A batch trusts that Redis knows the scripts that it was told once. If it may not be told again, that lasts. */
    @Test
    void aForgottenScriptThatMayNotBeLoadedIsRefused() {
        Lock lock = session(1).readWriteLock(NAME).readLock();
        lock.lock();
        lock.unlock();
        await("released").until(() -> Long.valueOf(0).equals(master.command("EXISTS", "interlock:{" + NAME + "}:rw")));
        master.command("ACL", "SETUSER", "default", "-script|load");
        try {
            master.command("SCRIPT", "FLUSH");
            // Within 10 s the replicas are counted anew, by a script that isn't in a batch.
            assertThat(actor("refused").begin(lock::lock))
                    .failsWithin(Duration.ofSeconds(5))
                    .withThrowableOfType(ExecutionException.class)
                    .havingCause()
                    .isInstanceOf(IllegalStateException.class)
                    .withMessageContaining("script|load");
        } finally {
            master.command("ACL", "SETUSER", "default", "+script|load");
        }
    }
}
