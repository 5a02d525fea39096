package dev.interlock.lock.condition;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.Peer;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die or stop while their threads wait for a condition, or after they have signalled one. */
@Timely
class WaiterDiesTest {

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

    WaiterDiesTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** As {@link Peer#start} takes it. */
    String kind() {
        return "plain";
    }

    private void leave() {
        peers.stream().filter(Peer::isAlive).forEach(Peer::leave);
    }

    @AfterEach
    void close() {
        peers.forEach(Peer::close);
    }

    /** Has a thread wait, and returns when it does: nothing else lets the observer in. */
    private static void startWaiting(Peer peer, String thread, Peer observer) {
        peer.lock(thread);
        peer.tell(thread, "await");
        observer.lock("observer");
        observer.unlock("observer");
    }

    /** Returns when the thread had the lock again. */
    private static long awaitReturn(Peer peer, String thread) {
        String[] words = peer.hear(thread, "RETURNED", PATIENCE).split(" ", -1);
        assertThat(words[2]).as("holds").isEqualTo("1");
        return Long.parseLong(words[1]);
    }

    /** Signals once; returns until when the signaller was inside at least. */
    private static long signal(Peer peer) {
        peer.lock("signaller");
        peer.ask("signaller", "signal", "SIGNALLED");
        return peer.unlock("signaller");
    }

    private static void awaitSilence() {
        await("the end of a heartbeat")
                .pollDelay(HEARTBEAT.plus(SLACK))
                .atMost(PATIENCE)
                .until(() -> true);
    }

    private Duration report(String what, long from, long to) {
        Duration took = Duration.ofNanos(to - from);
        reporter.publishEntry(what + ": " + took.toMillis() + " ms");
        return took;
    }

    /** A JVM of which nothing was heard for the length of a heartbeat is passed over by a signal, at no cost. */
    @Test
    void signalPassesOverADeadWaiter() {
        String name = keyspace.name("waiter-dead");
        peers = Peer.start(3, keyspace, name, kind(), LEASE);
        Peer dead = peers.get(0);
        Peer next = peers.get(1);
        Peer signaller = peers.get(2);
        startWaiting(dead, "t1", signaller);
        startWaiting(next, "t1", signaller);
        dead.kill();
        awaitSilence();

        long left = signal(signaller);

        assertWithin(SLACK, report("long dead", left, awaitReturn(next, "t1")));
        next.unlock("t1");
        leave();
    }

    /** A signal that goes to a JVM which has just been killed costs its first short lease, and then wakes the next. */
    @Test
    @Tag("proof")
    void signalOfADyingWaiterGoesToTheNext() {
        String name = keyspace.name("waiter-dies");
        peers = Peer.start(3, keyspace, name, kind(), LEASE);
        Peer dead = peers.get(0);
        Peer next = peers.get(1);
        Peer signaller = peers.get(2);
        startWaiting(dead, "t1", signaller);
        startWaiting(next, "t1", signaller);
        dead.kill();

        long left = signal(signaller);

        assertWithin(HEARTBEAT.multipliedBy(2).plus(SLACK), report("just killed", left, awaitReturn(next, "t1")));
        next.unlock("t1");
        leave();
    }

    /** Who is killed between signal() and unlock() has signalled: somebody returns when its lease is over. */
    @Test
    @Tag("proof")
    void signalOutlivesTheSignaller() {
        String name = keyspace.name("signaller-dies");
        peers = Peer.start(3, keyspace, name, kind(), SHORT_LEASE);
        Peer dead = peers.get(0);
        Peer first = peers.get(1);
        Peer second = peers.get(2);
        startWaiting(first, "t1", dead);
        startWaiting(second, "t1", dead);
        dead.lock("t1");
        dead.ask("t1", "signalAll", "SIGNALLED");
        long killed = System.nanoTime();
        dead.kill();

        List<Peer> waiters = List.of(first, second);
        Peer earlier = await("a return")
                .atMost(PATIENCE)
                .until(
                        () -> waiters.stream()
                                .filter(peer -> peer.count("t1 RETURNED") > 0)
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
        long returned = unlockOnReturn(earlier);
        assertWithin(SHORT_LEASE.plus(GRACE), report("signaller killed", killed, returned));
        unlockOnReturn(earlier == first ? second : first);
        leave();
    }

    private static long unlockOnReturn(Peer peer) {
        long returned = awaitReturn(peer, "t1");
        peer.unlock("t1");
        return returned;
    }

    /**
     * A JVM that is stopped past its lease while it waits doesn't wait any more: its thread returns when it goes on.
     */
    @Test
    @Tag("proof")
    void stoppedWaiterIsPassedOverAndReturnsLater() {
        String name = keyspace.name("waiter-stopped");
        peers = Peer.start(3, keyspace, name, kind(), SHORT_LEASE);
        Peer stopped = peers.get(0);
        Peer next = peers.get(1);
        Peer signaller = peers.get(2);
        startWaiting(stopped, "t1", signaller);
        startWaiting(next, "t1", signaller);
        stopped.stop();
        awaitSilence();

        long left = signal(signaller);

        assertWithin(SLACK, report("stopped", left, awaitReturn(next, "t1")));
        next.unlock("t1");
        stopped.cont();
        awaitReturn(stopped, "t1");
        stopped.ask("t1", "assert", "HELD");
        stopped.unlock("t1");
        leave();
    }
}
