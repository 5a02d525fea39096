package dev.interlock.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReadWriteLock;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.RedisCluster;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A slot of a cluster moves to another node, key by key. As long as that takes, commands that need several keys of a
 * name are refused, and what a session has there isn't lost.
 */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("proof")
class SlotMoveTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(3);

    /** So many renewals take longer than a lease. */
    private static final int RENEWALS = 6;

    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private final Recorder recorder = new Recorder();

    @AfterEach
    void close() throws Exception {
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
        return closing(Interlock.builder()
                .uri("redis-cluster://" + nodes)
                .lease(LEASE)
                .listener(recorder)
                .open());
    }

    /** Locks and leases have moved, but nothing else. */
    @Test
    void whatIsHeldStaysHeld() {
        assertStaysHeld(SlotMoveTest::isLeased);
    }

    /** Nothing has moved yet, or all but locks and leases. */
    static Stream<Named<Predicate<String>>> moved() {
        return Stream.of(Named.of("none", key -> false), Named.of("others", key -> !isLeased(key)));
    }

    @ParameterizedTest
    @MethodSource("moved")
    void whatIsHeldStaysHeldWhateverHasMoved(Predicate<String> moved) {
        assertStaysHeld(moved);
    }

    private static boolean isLeased(String key) {
        return key.matches("\\{t}.*|.*:rw|.*readers.*|.*-sessions|.*-members");
    }

    private void assertStaysHeld(Predicate<String> moved) {
        RedisCluster cluster = closing(RedisCluster.launchMasters());
        Interlock session = session(cluster);
        List<DistributedReentrantLock> locks = List.of(session.lock("{t}lock"), session.fairLock("{t}fair"));
        DistributedReadWriteLock read = session.readWriteLock("{t}read");
        DistributedReadWriteLock written = session.readWriteLock("{t}written");
        DistributedSemaphore semaphore = session.semaphore("{t}permits", 2);
        DistributedCyclicBarrier barrier = session.cyclicBarrier("{t}barrier", 2);
        ConcurrentLinkedQueue<LeaseLostException> lost = new ConcurrentLinkedQueue<>();
        semaphore.onLost(lost::add);
        locks.forEach(DistributedReentrantLock::lock);
        read.readLock().lock();
        written.writeLock().lock();
        semaphore.acquireUninterruptibly();
        List<Long> tokens =
                locks.stream().map(DistributedReentrantLock::fencingToken).toList();

        RedisCluster.Move move = cluster.beginMove("{t}");
        move.move(moved);
        for (String name : List.of("{t}lock", "{t}fair", "{t}read", "{t}written")) {
            int before = renewals(name);
            Awaitility.await("renewals of " + name).atMost(PATIENCE).until(() -> renewals(name) >= before + RENEWALS);
        }
        locks.forEach(DistributedReentrantLock::assertHeld);
        read.readLock().assertHeld();
        written.writeLock().assertHeld();
        move.end();

        semaphore.release();
        assertThat(barrier.isBroken()).isFalse();
        assertThat(locks.stream().map(DistributedReentrantLock::fencingToken)).isEqualTo(new ArrayList<>(tokens));
        locks.forEach(DistributedReentrantLock::unlock);
        read.readLock().unlock();
        written.writeLock().unlock();
        assertThat(recorder.count(Recorder.Kind.LOST)).isZero();
        assertThat(recorder.count(Recorder.Kind.LOST_UNNOTICED)).isZero();
        assertThat(recorder.count(Recorder.Kind.UNREACHABLE)).isZero();
        assertThat(lost).isEmpty();
        Interlock other = session(cluster);
        assertThat(other.lock("{t}lock").tryLock()).isTrue();
        other.lock("{t}lock").unlock();
    }

    private int renewals(String name) {
        return (int) recorder.of(Recorder.Kind.RENEWED).stream()
                .filter(event -> event.name().equals(name))
                .count();
    }
}
