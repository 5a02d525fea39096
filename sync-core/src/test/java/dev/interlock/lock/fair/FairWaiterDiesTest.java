package dev.interlock.lock.fair;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.Peer;
import dev.interlock.lock.fleet.Peer.Entry;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die or stop while their threads wait for a fair lock, or while they retain one. */
@Timely
class FairWaiterDiesTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(2);

    /**
     * With what a lease begins that somebody else's release grants; and for how long nothing need be heard of a waiter.
     */
    private static final Duration HEARTBEAT = Duration.ofSeconds(3);

    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Duration SLACK = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private List<Peer> peers = List.of();

    FairWaiterDiesTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    private void leave() {
        peers.stream().filter(Peer::isAlive).forEach(Peer::leave);
    }

    @AfterEach
    void close() {
        peers.forEach(Peer::close);
    }

    /**
     * Two threads of a JVM that has just been killed are granted the lock as one run: that costs its first short lease.
     */
    @Test
    @Tag("proof")
    void waitersThatDieJustBeforeTheirTurnDelayTheNextByAShortLease() {
        String name = keyspace.name("fair-waiter-dies");
        peers = Peer.start(3, keyspace, name, "fair", LEASE);
        Peer holder = peers.get(0);
        Peer dead = peers.get(1);
        Peer next = peers.get(2);
        Entry held = holder.lock("t1");
        dead.queue("t1", 0);
        dead.queue("t2", 1);
        next.queue("t1", 2);
        dead.kill();
        long left = holder.unlock("t1");
        Entry entered = next.awaitEntry("t1", PATIENCE);
        Duration took = Duration.ofNanos(entered.nanos() - left);
        reporter.publishEntry(String.format("killed just before its turn: next enters after %d ms", took.toMillis()));
        assertWithin(HEARTBEAT.plus(GRACE).plus(SLACK), took);
        assertThat(entered.token()).isGreaterThan(held.token());
        next.unlock("t1");
        leave();
    }

    /**
     * A JVM that is stopped for longer than its heartbeat is passed over; its threads have their turn when it goes on.
     */
    @Test
    @Tag("proof")
    void threadsOfAStoppedJvmHaveTheirTurnLater() {
        String name = keyspace.name("fair-waiter-stopped");
        peers = Peer.start(3, keyspace, name, "fair", LEASE);
        Peer holder = peers.get(0);
        Peer stopped = peers.get(1);
        Peer next = peers.get(2);
        Entry held = holder.lock("t1");
        List<String> threads = List.of("t1", "t2", "t3");
        for (int i = 0; i < threads.size(); i++) {
            stopped.queue(threads.get(i), i);
        }
        next.queue("t1", threads.size());
        stopped.stop();
        await("an overdue heartbeat")
                .atMost(HEARTBEAT.plus(GRACE))
                .until(() -> keyspace.isOverdue(name, stopped.sessionId()));
        long left = holder.unlock("t1");
        Entry entered = next.awaitEntry("t1", PATIENCE);
        assertWithin(SLACK, Duration.ofNanos(entered.nanos() - left));
        assertThat(entered.token()).isGreaterThan(held.token());
        stopped.cont();
        await("places taken anew").atMost(PATIENCE).until(() -> keyspace.waiting(name) == threads.size());
        next.unlock("t1");
        long token = entered.token();
        for (String thread : threads) {
            Entry late = stopped.awaitEntry(thread, PATIENCE);
            assertThat(late.token()).isGreaterThan(token);
            token = late.token();
            stopped.unlock(thread);
        }
        leave();
    }

    /** A lock that is retained by a JVM which is killed is free when its lease is over, which nobody renews. */
    @Test
    void aLockThatADeadJvmRetainsIsFreedByItsLease() {
        String name = keyspace.name("retainer-dies");
        peers = Peer.start(2, keyspace, name, "60000", SHORT_LEASE);
        Peer dead = peers.get(0);
        Peer next = peers.get(1);
        Entry held = dead.lock("t1");
        dead.unlock("t1");
        assertThat(keyspace.ownedMillis(name)).as("retained").isPositive();
        long killed = System.nanoTime();
        dead.kill();
        next.tell("t1", "lock");
        Entry entered = next.awaitEntry("t1", PATIENCE);
        assertWithin(SHORT_LEASE.plus(GRACE), Duration.ofNanos(entered.nanos() - killed));
        assertThat(entered.token()).isGreaterThan(held.token());
        next.unlock("t1");
        leave();
    }
}
