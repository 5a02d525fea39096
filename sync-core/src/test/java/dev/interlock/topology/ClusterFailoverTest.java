package dev.interlock.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisCluster;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TooLate;
import dev.interlock.testing.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.config.Config;

/** A master of a cluster dies, and its only replica takes its place; the other two shards go on. */
@SuppressWarnings("NullAway.Init") // before all tests
@Tag("proof")
class ClusterFailoverTest extends FailoverContract {
    /** Shorter than a failover. */
    private static final Duration SHORT = Duration.ofSeconds(3);

    private final List<DistributedReentrantLock> elsewhere = new ArrayList<>();
    private Actor holder;

    @Override
    Topology launch() {
        return RedisCluster.launch();
    }

    @Override
    void connect(Config config, Topology to) {
        Clients.tuned(config.useClusterServers())
                .setScanInterval(250)
                .addNodeAddress(to.urls().toArray(String[]::new));
    }

    private List<String> namesElsewhere() {
        RedisServer master = topology().masterOf(shard());
        return IntStream.range(0, 30)
                .mapToObj(i -> "elsewhere-" + i)
                .filter(name -> topology().masterOf(name) != master)
                .limit(8)
                .toList();
    }

    @Override
    void beginBystanders() {
        Interlock session = session(SHORT);
        holder = actor("bystander");
        // Renewals of these travel with those of the others.
        holder.run(session.lock(shard() + "doomed-1")::lock);
        holder.run(session.lock(shard() + "doomed-2")::lock);
        namesElsewhere().forEach(name -> elsewhere.add(session.lock(name)));
        elsewhere.forEach(lock -> holder.run(lock::lock));
    }

    @Test
    void whatIsOnOtherNodesIsRenewedMeanwhile() {
        assertThat(elsewhere).isNotEmpty();
        elsewhere.forEach(lock -> holder.run(() -> assertRenewed(lock)));
    }

    /** A lease of 3 s ends on a machine that is busy for that long. */
    private static void assertRenewed(DistributedReentrantLock lock) {
        try {
            lock.assertHeld();
        } catch (LeaseLostException e) {
            throw new TooLate("a renewal on another node", e);
        }
    }

    /** The last node of a shard has nobody to wait for, and the others go on waiting for theirs. */
    @Test
    void onlyAShardWithoutReplicasWaitsForNone() {
        Interlock session = session(Duration.ofSeconds(30));
        RedisServer widowed = topology().masterOf(shard());
        assertThat(waits(session, widowed, shard())).as("without a replica").isZero();
        String name = namesElsewhere().get(0);
        RedisServer other = topology().masterOf(name);
        assertThat(waits(session, other, "{" + name + "}")).as("with a replica").isGreaterThanOrEqualTo(5);
    }

    private static long waits(Interlock session, RedisServer master, String tag) {
        lockAndUnlock(session, tag + "warm");
        long before = master.commandCalls("wait");
        IntStream.range(0, 5).forEach(i -> lockAndUnlock(session, tag + "fresh-" + i));
        return master.commandCalls("wait") - before;
    }

    private static void lockAndUnlock(Interlock session, String name) {
        DistributedReentrantLock lock = session.lock(name);
        lock.lock();
        lock.unlock();
    }
}
