package dev.interlock.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisCluster;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.ShardedSubscriptionMode;

/**
 * Clusters without sharded channels: those of Redis 6.2 have none, and a client may be told not to use them. Sessions
 * publish where Redisson's clients listen.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("proof")
class PubSubTest {
    private static final String NAME = "stock";
    private static final Duration LEASE = Duration.ofSeconds(3);

    /** A session lets go of nothing that is held for so long, and a plain client looks no earlier. */
    private static final Duration LONG = Duration.ofMinutes(5);

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final Deque<Runnable> opened = new ArrayDeque<>();

    @AfterEach
    void close() {
        opened.forEach(Runnable::run);
    }

    private RedisCluster closing(RedisCluster cluster) {
        opened.push(cluster::close);
        return cluster;
    }

    private RedissonClient client(RedisCluster cluster, ShardedSubscriptionMode mode) {
        Config config = new Config();
        config.useClusterServers()
                .setShardedSubscriptionMode(mode)
                .addNodeAddress(cluster.urls().toArray(String[]::new));
        RedissonClient client = Redisson.create(config);
        opened.push(() -> client.shutdown(0, 2, TimeUnit.SECONDS));
        return client;
    }

    private Interlock session(RedissonClient client, Duration lease) {
        Interlock session = Interlock.builder().client(client).lease(lease).open();
        opened.push(session::close);
        return session;
    }

    private Actor actor(String name) {
        Actor actor = new Actor(name);
        opened.push(actor::close);
        return actor;
    }

    private static ConditionFactory await(String what) {
        return Awaitility.await(what).atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(20));
    }

    /** Locks of all kinds are renewed, handed over by a message, and end with their release. */
    @Test
    void aClusterOfTheOldestRedisKeepsLocks() {
        RedisCluster cluster = closing(RedisCluster.launchOldest());
        assertThat(String.valueOf(cluster.nodes().get(0).command("INFO", "server")))
                .contains("redis_version:6.2.");
        Interlock ours = session(client(cluster, ShardedSubscriptionMode.AUTO), LEASE);
        Interlock theirs = session(client(cluster, ShardedSubscriptionMode.AUTO), LEASE);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        DistributedReentrantLock lock = ours.lock(NAME);
        DistributedReentrantLock fair = ours.fairLock("fair");
        DistributedReadWriteLock pair = ours.readWriteLock("pair");
        holder.run(lock::lock);
        holder.run(fair::lock);
        holder.run(pair.readLock()::lock);
        CompletableFuture<Boolean> entered = waiter.begin(theirs.lock(NAME)::lock);
        await("leases over").during(LEASE.multipliedBy(2)).untilAsserted(() -> {
            holder.run(lock::assertHeld);
            holder.run(fair::assertHeld);
            holder.run(pair.readLock()::assertHeld);
            assertThat(entered).isNotDone();
        });
        holder.run(lock::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        waiter.run(theirs.lock(NAME)::unlock);
        holder.run(fair::unlock);
        waiter.run(theirs.fairLock("fair")::lock);
        waiter.run(theirs.fairLock("fair")::unlock);
        holder.run(pair.readLock()::unlock);
        waiter.run(theirs.readWriteLock("pair").writeLock()::lock);
        waiter.run(theirs.readWriteLock("pair").writeLock()::unlock);
    }

    @Test
    void plainClientsOfTheOldestRedisAreWoken() {
        RedisCluster cluster = closing(RedisCluster.launchOldest());
        plainClientIsWoken(
                client(cluster, ShardedSubscriptionMode.AUTO), client(cluster, ShardedSubscriptionMode.AUTO));
    }

    @Test
    void plainClientsThatListenToNoShardedChannelsAreWoken() {
        RedisCluster cluster = closing(RedisCluster.launch());
        plainClientIsWoken(client(cluster, ShardedSubscriptionMode.OFF), client(cluster, ShardedSubscriptionMode.OFF));
    }

    // By a message: otherwise it looks when the lease is over that it has seen.
    private void plainClientIsWoken(RedissonClient client, RedissonClient neighbours) {
        Interlock session = session(client, LONG);
        Actor holder = actor("holder");
        Actor waiter = actor("waiter");
        DistributedReentrantLock lock = session.lock(NAME);
        RLock plain = neighbours.getLock(NAME);
        for (int i = 0; i < 3; i++) {
            holder.run(lock::lock);
            CompletableFuture<Boolean> entered = waiter.begin(plain::lock);
            await("it waits").until(() -> waiter.thread().getState() == Thread.State.TIMED_WAITING);
            holder.run(lock::unlock);
            assertThat(entered).succeedsWithin(PATIENCE);
            CompletableFuture<Boolean> back = holder.begin(lock::lock);
            await("they wait").until(() -> holder.thread().getState() == Thread.State.TIMED_WAITING);
            waiter.run(plain::unlock);
            assertThat(back).succeedsWithin(PATIENCE);
            holder.run(lock::unlock);
        }
    }
}
