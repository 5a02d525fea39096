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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JVM that is stopped past its lease while it holds a lock, and wakes up as a stale holder. */
@Timely
class PausedHolderTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private List<Peer> peers = List.of();

    PausedHolderTest(TestReporter reporter) {
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

    /**
     * Whatever the stale holder does first after it wakes, it is told of the loss; its listeners hear of it once; the
     * thread that was queued behind it doesn't enter on the old tenure, but after the other JVM, with a larger token.
     */
    @ParameterizedTest
    @ValueSource(strings = {"assert", "token", "unlock"})
    void staleHolderIsToldAndHandsNothingOn(String firstAct) {
        String name = keyspace.name("paused-holder");
        start(2, name, LEASE);
        Peer paused = peers.get(0);
        Peer other = peers.get(1);
        Entry stale = paused.lock("t1");
        paused.queueLocally("t2");
        other.queue("t1", 0);
        long stopped = Monotonic.nanos();
        paused.stop();

        Entry fresh = other.awaitEntry("t1", PATIENCE);
        Duration took = Duration.ofNanos(fresh.nanos() - stopped);
        reporter.publishEntry(String.format("stopped holder to next entry: %d ms, lease %s", took.toMillis(), LEASE));
        assertWithin(LEASE.plus(GRACE), took);
        assertThat(fresh.token()).isGreaterThan(stale.token());

        // Told while it is stopped, so that it's the first that the thread does on waking.
        paused.tell("t1", firstAct);
        paused.cont();
        assertLost(paused, firstAct, false);
        if (!firstAct.equals("unlock")) {
            assertThat(paused.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS true 1");
            paused.tell("t1", "assert");
            assertLost(paused, "assert", false);
            paused.tell("t1", "token");
            assertLost(paused, "token", false);
            assertThat(paused.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS true 1");
            paused.tell("t1", "unlock");
            assertLost(paused, "unlock", false);
        }
        assertThat(paused.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS false 0");
        paused.tell("t1", "unlock");
        assertLost(paused, "unlock", true);

        await("the queued thread's own place in Redis").atMost(PATIENCE).until(() -> keyspace.waiting(name) == 1);
        assertThat(paused.count("t2 LOCKED")).isZero();
        other.ask("t1", "assert", "HELD");
        long left = other.unlock("t1");
        Entry queued = paused.awaitEntry("t2", PATIENCE);
        assertThat(queued.nanos()).isGreaterThan(left);
        assertThat(queued.token()).isGreaterThan(fresh.token());
        paused.ask("t2", "assert", "HELD");
        paused.unlock("t2");

        await("the listeners")
                .atMost(PATIENCE)
                .until(() -> paused.count("LOST session") + paused.count("LOST lock") >= 2);
        assertWorksNormally(paused, other, queued);
        assertThat(paused.count("LOST session " + stale.token())).isEqualTo(1);
        assertThat(paused.count("LOST lock " + stale.token())).isEqualTo(1);
        assertThat(paused.count("LOST")).isEqualTo(2);
        assertThat(other.count("LOST")).isZero();
        leave();
    }

    private static void assertLost(Peer peer, String act, boolean notHeld) {
        String exception = notHeld ? "IllegalMonitorStateException" : "LeaseLostException";
        assertThat(peer.hear("t1", "", PATIENCE)).startsWith("THREW " + act + " " + exception + " ");
    }

    private static void assertWorksNormally(Peer paused, Peer other, Entry last) {
        long token = last.token();
        for (int i = 0; i < 3; i++) {
            for (Peer peer : new Peer[] {paused, other, paused}) {
                Entry entry = peer.lock("t1");
                assertThat(entry.token()).isGreaterThan(token);
                token = entry.token();
                peer.ask("t1", "assert", "HELD");
                peer.unlock("t1");
            }
        }
    }

    /** A pause well inside the lease loses nothing. */
    @Test
    @Tag("proof")
    void shortPauseLosesNothing() {
        String name = keyspace.name("short-pause");
        Duration lease = Duration.ofSeconds(10);
        start(2, name, lease);
        Peer paused = peers.get(0);
        Peer other = peers.get(1);
        Entry held = paused.lock("t1");
        other.queue("t1", 0);
        paused.stop();
        await("two seconds of pause")
                .pollDelay(Duration.ofSeconds(2))
                .atMost(Duration.ofSeconds(8))
                .until(() -> keyspace.ownedMillis(name) > 0);
        paused.tell("t1", "assert");
        paused.cont();
        paused.hear("t1", "HELD", PATIENCE);
        assertThat(paused.ask("t1", "token", "TOKEN")).isEqualTo("TOKEN " + held.token());
        assertThat(other.count("t1 LOCKED")).isZero();
        long left = paused.unlock("t1");
        Entry next = other.awaitEntry("t1", PATIENCE);
        assertThat(next.nanos()).isGreaterThan(left);
        assertThat(next.token()).isGreaterThan(held.token());
        other.unlock("t1");
        assertThat(paused.count("LOST")).isZero();
        leave();
    }

    /** A waiter that is stopped is passed over, waits on when it wakes, and enters in its new turn. */
    @Test
    @Tag("proof")
    void pausedWaiterIsPassedOverAndEntersLater() {
        String name = keyspace.name("paused-waiter");
        start(3, name, LEASE);
        Peer holder = peers.get(0);
        Peer paused = peers.get(1);
        Peer next = peers.get(2);
        Entry held = holder.lock("t1");
        paused.queue("t1", 0);
        next.queue("t1", 1);
        paused.stop();
        await("an overdue heartbeat").atMost(PATIENCE).until(() -> keyspace.isOverdue(name, paused.sessionId()));
        holder.unlock("t1");
        Entry entered = next.awaitEntry("t1", PATIENCE);
        assertThat(entered.token()).isGreaterThan(held.token());
        paused.cont();
        await("the place in the queue that it takes anew").atMost(PATIENCE).until(() -> keyspace.waiting(name) == 1);
        assertThat(paused.count("t1 LOCKED")).isZero();
        long left = next.unlock("t1");
        Entry late = paused.awaitEntry("t1", PATIENCE);
        assertThat(late.nanos()).isGreaterThan(left);
        assertThat(late.token()).isGreaterThan(entered.token());
        paused.unlock("t1");
        assertThat(paused.count("LOST")).isZero();
        leave();
    }

    /** A waiter that is stopped when the lock is granted to it, and past the lease: it doesn't enter on that grant. */
    @Test
    @Tag("proof")
    void staleGrantIsNotEntered() {
        String name = keyspace.name("stale-grant");
        start(3, name, LEASE);
        Peer holder = peers.get(0);
        Peer paused = peers.get(1);
        Peer next = peers.get(2);
        holder.lock("t1");
        paused.queue("t1", 0);
        next.queue("t1", 1);
        paused.stop();
        holder.unlock("t1");
        Entry entered = next.awaitEntry("t1", PATIENCE);
        paused.cont();
        await("the place in the queue that it takes anew").atMost(PATIENCE).until(() -> keyspace.waiting(name) == 1);
        assertThat(paused.count("t1 LOCKED")).isZero();
        long left = next.unlock("t1");
        Entry late = paused.awaitEntry("t1", PATIENCE);
        assertThat(late.nanos()).isGreaterThan(left);
        assertThat(late.token()).isGreaterThan(entered.token());
        paused.ask("t1", "assert", "HELD");
        paused.unlock("t1");
        leave();
    }
}
