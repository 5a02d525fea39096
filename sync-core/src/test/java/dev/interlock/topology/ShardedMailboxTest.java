package dev.interlock.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisCluster;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** In a cluster, what sessions hear of a name over which they take turns goes to no node but that of the name. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("proof")
class ShardedMailboxTest {
    private static final String NAME = "stock";
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int TURNS = 200;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final AtomicInteger turns = new AtomicInteger();
    private volatile boolean done;

    @AfterEach
    void close() throws Exception {
        done = true;
        for (AutoCloseable one : opened) {
            one.close();
        }
    }

    private <T extends AutoCloseable> T closing(T one) {
        opened.push(one);
        return one;
    }

    private Interlock session(RedisCluster cluster) {
        String nodes = cluster.nodes().stream()
                .map(node -> node.host() + ":" + node.port())
                .collect(Collectors.joining(","));
        return closing(Interlock.connect("redis-cluster://" + nodes));
    }

    /** Goes on until the test is done. */
    private CompletableFuture<Boolean> takesTurns(Interlock session) {
        DistributedReentrantLock lock = session.fairLock(NAME);
        return closing(new Actor("turns of " + session.id())).begin(() -> {
            while (!done) {
                lock.lock();
                turns.incrementAndGet();
                lock.unlock();
            }
        });
    }

    private void awaitTurns(int more) {
        int enough = turns.get() + more;
        Awaitility.await(more + " turns").atMost(PATIENCE).until(() -> turns.get() >= enough);
    }

    /** Of so many turns in a row, sooner or later, hardly any has cost a message between nodes. */
    private void awaitNearness(RedisCluster cluster) {
        Awaitility.await("messages stay on their node").atMost(PATIENCE).until(() -> {
            long before = cluster.published();
            int first = turns.get();
            awaitTurns(TURNS);
            return cluster.published() - before <= 0.2 * (turns.get() - first);
        });
    }

    private void end(CompletableFuture<?>... turning) {
        done = true;
        assertThat(turning).allSatisfy(one -> assertThat(one).succeedsWithin(PATIENCE));
    }

    @Test
    void messagesStayOnTheNodeOfTheName() {
        RedisCluster cluster = closing(RedisCluster.launchMasters());
        var mine = takesTurns(session(cluster));
        var others = takesTurns(session(cluster));
        awaitNearness(cluster);
        end(mine, others);
    }

    /** A name moves to another node: its sessions listen there. */
    @Test
    void theyFollowTheNameToAnotherNode() {
        RedisCluster cluster = closing(RedisCluster.launchMasters());
        var mine = takesTurns(session(cluster));
        var others = takesTurns(session(cluster));
        awaitNearness(cluster);
        cluster.moveSlotOf(NAME);
        awaitNearness(cluster);
        cluster.moveSlotOf(NAME);
        awaitNearness(cluster);
        end(mine, others);
    }

    /** A replica takes the place of the node: its sessions listen there. */
    @Test
    void theyFollowTheNameToItsReplica() {
        RedisCluster cluster = closing(RedisCluster.launch());
        var mine = takesTurns(session(cluster));
        var others = takesTurns(session(cluster));
        awaitTurns(TURNS);
        cluster.kill(cluster.masterOf(NAME));
        awaitTurns(TURNS);
        cluster.heal();
        awaitTurns(TURNS);
        end(mine, others);
    }
}
