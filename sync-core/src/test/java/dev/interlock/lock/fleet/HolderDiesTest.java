package dev.interlock.lock.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.Peer.Entry;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die by {@code kill -9} while they hold a lock or wait for it. */
@Timely
class HolderDiesTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);
    private static final Duration HEARTBEAT = Duration.ofSeconds(3);
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private List<Peer> peers = List.of();

    HolderDiesTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    private void start(int count, String name, Duration lease) {
        peers = Peer.start(count, keyspace, name, lease);
    }

    private void leave() {
        peers.stream().filter(Peer::isAlive).forEach(Peer::leave);
    }

    @AfterEach
    void close() {
        peers.forEach(Peer::close);
    }

    /** The next waiter of a dead holder enters within the lease and 2 s, with a larger token. */
    @Test
    void nextWaiterEntersWhenTheLeaseOfADeadHolderIsOver() {
        String name = keyspace.name("holder-dies");
        start(3, name, LEASE);
        Peer holder = peers.get(0);
        Peer next = peers.get(1);
        Peer last = peers.get(2);
        Entry held = holder.lock("t1");
        next.queue("t1", 0);
        last.queue("t1", 1);
        long killed = Monotonic.nanos();
        holder.kill();

        Entry first = next.awaitEntry("t1", PATIENCE);
        Duration took = Duration.ofNanos(first.nanos() - killed);
        reporter.publishEntry(String.format("killed holder to next entry: %d ms, lease %s", took.toMillis(), LEASE));
        assertWithin(LEASE.plus(GRACE), took);
        assertThat(first.token()).isGreaterThan(held.token());

        long left = next.unlock("t1");
        Entry second = last.awaitEntry("t1", PATIENCE);
        assertThat(second.nanos()).isGreaterThan(left);
        assertThat(second.token()).isGreaterThan(first.token());
        last.unlock("t1");
        leave();
    }

    /** A dead holder whose local threads were queued behind it takes them along; the other JVM's waiter enters. */
    @Test
    @Tag("proof")
    void localWaitersOfADeadHolderDelayNobody() {
        String name = keyspace.name("holder-dies-with-waiters");
        start(2, name, LEASE);
        Peer holder = peers.get(0);
        Peer next = peers.get(1);
        Entry held = holder.lock("t1");
        holder.queueLocally("t2");
        next.queue("t1", 0);
        long killed = Monotonic.nanos();
        holder.kill();
        Entry first = next.awaitEntry("t1", PATIENCE);
        assertWithin(LEASE.plus(GRACE), Duration.ofNanos(first.nanos() - killed));
        assertThat(first.token()).isGreaterThan(held.token());
        next.unlock("t1");
        leave();
    }

    /** Nobody waited when the holder died: whoever comes then waits for the rest of the lease, and not longer. */
    @Test
    @Tag("proof")
    void lateComerEntersWhenTheLeaseOfADeadHolderIsOver() {
        String name = keyspace.name("late-comer");
        start(2, name, LEASE);
        Peer holder = peers.get(0);
        Peer next = peers.get(1);
        Entry held = holder.lock("t1");
        long killed = Monotonic.nanos();
        holder.kill();
        next.tell("t1", "lock");
        Entry first = next.awaitEntry("t1", PATIENCE);
        assertWithin(LEASE.plus(GRACE), Duration.ofNanos(first.nanos() - killed));
        assertThat(first.token()).isGreaterThan(held.token());
        next.unlock("t1");
        leave();
    }

    /** A waiter that has been dead for longer than its heartbeat is passed over at once, whatever the lease. */
    @Test
    @Tag("proof")
    void deadWaiterIsSkipped() {
        String name = keyspace.name("waiter-dies");
        start(3, name, LONG_LEASE);
        Peer holder = peers.get(0);
        Peer dead = peers.get(1);
        Peer next = peers.get(2);
        Entry held = holder.lock("t1");
        dead.queue("t1", 0);
        next.queue("t1", 1);
        dead.kill();
        await("an overdue heartbeat")
                .atMost(HEARTBEAT.plus(GRACE))
                .until(() -> keyspace.isOverdue(name, dead.sessionId()));

        long left = holder.unlock("t1");
        Entry entered = next.awaitEntry("t1", PATIENCE);
        Duration took = Duration.ofNanos(entered.nanos() - left);
        reporter.publishEntry(String.format("dead waiter skipped in %d us", took.toNanos() / 1_000));
        assertWithin(Duration.ofSeconds(1), took);
        assertThat(entered.token()).isGreaterThan(held.token());
        next.unlock("t1");
        leave();
    }

    /** A waiter that dies just before its turn is granted the lock: it delays the next one by the lease it got. */
    @Test
    @Tag("proof")
    void waiterThatDiesJustBeforeItsTurnDelaysTheNextByItsLease() {
        String name = keyspace.name("waiter-dies-late");
        start(3, name, LEASE);
        Peer holder = peers.get(0);
        Peer dead = peers.get(1);
        Peer next = peers.get(2);
        Entry held = holder.lock("t1");
        dead.queue("t1", 0);
        next.queue("t1", 1);
        dead.kill();
        long left = holder.unlock("t1");

        Entry entered = next.awaitEntry("t1", PATIENCE);
        Duration took = Duration.ofNanos(entered.nanos() - left);
        reporter.publishEntry(
                String.format("waiter killed just before its turn: next enters after %d ms", took.toMillis()));
        assertWithin(LEASE.plus(GRACE), took);
        assertThat(entered.token()).isGreaterThan(held.token());
        next.unlock("t1");
        leave();
    }
}
