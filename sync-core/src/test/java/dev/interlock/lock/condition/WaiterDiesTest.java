package dev.interlock.lock.condition;

import static dev.interlock.testing.rig.Peer.ANSWER;
import static dev.interlock.testing.rig.Rig.GRACE;
import static dev.interlock.testing.rig.Rig.HEARTBEAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.LockSubject;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die or stop while their threads wait for a condition, or after they have signalled one. */
@Timely
@Tag("proof")
class WaiterDiesTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(2);
    private static final Duration SLACK = Duration.ofSeconds(1);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** As {@link LockSubject} takes it. */
    String kind() {
        return "plain";
    }

    /** Two JVMs whose t1 wait in their order, and one that finds them waiting. */
    private record Waiting(Peer first, Peer second, Peer other) {

        static Waiting of(List<Peer> peers) {
            var waiting = new Waiting(peers.get(0), peers.get(1), peers.get(2));
            startWaiting(waiting.first, waiting.other);
            startWaiting(waiting.second, waiting.other);
            return waiting;
        }

        /** Has a thread wait, and returns when it does: nothing else lets the observer in. */
        private static void startWaiting(Peer peer, Peer observer) {
            peer.enter("t1", "lock");
            peer.tell("t1", "await");
            observer.enter("observer", "lock");
            observer.exit("observer", "lock");
        }

        /** Signals once; returns until when the signaller was inside at least. */
        long signal() {
            other.enter("signaller", "lock");
            other.ask("signaller", "signal", "SIGNALLED");
            return other.exit("signaller", "lock");
        }
    }

    private Waiting waiting(String what, Duration lease) {
        return Waiting.of(rig.start(3, new LockSubject(), rig.name(what), lease, kind()));
    }

    /** Waits until a thread has returned, which has the lock again, and lets it unlock. Returns when it had it. */
    private static long unlockOnReturn(Peer peer) {
        String[] words = peer.hear("t1", "RETURNED").split(" ", -1);
        assertThat(words[2]).as("holds").isEqualTo("1");
        peer.exit("t1", "lock");
        return Long.parseLong(words[1]);
    }

    private static void awaitSilence() {
        await("the end of a heartbeat")
                .pollDelay(HEARTBEAT.plus(SLACK))
                .atMost(ANSWER)
                .until(() -> true);
    }

    /** A JVM of which nothing was heard for the length of a heartbeat is passed over by a signal, at no cost. */
    @Test
    void signalPassesOverADeadWaiter() {
        var waiting = waiting("waiter-dead", LEASE);
        waiting.first.kill();
        awaitSilence();
        long left = waiting.signal();
        rig.assertTook("long dead", SLACK, left, unlockOnReturn(waiting.second));
        rig.leave();
    }

    /** A signal that goes to a JVM which has just been killed costs its first short lease, and then wakes the next. */
    @Test
    void signalOfADyingWaiterGoesToTheNext() {
        var waiting = waiting("waiter-dies", LEASE);
        waiting.first.kill();
        long left = waiting.signal();
        Duration bound = HEARTBEAT.multipliedBy(2).plus(SLACK);
        rig.assertTook("just killed", bound, left, unlockOnReturn(waiting.second));
        rig.leave();
    }

    /** A JVM that is killed between signal() and unlock() has signalled: a thread returns when its lease is over. */
    @Test
    void signalOutlivesTheSignaller() {
        var waiting = waiting("signaller-dies", SHORT_LEASE);
        waiting.other.enter("t1", "lock");
        waiting.other.ask("t1", "signalAll", "SIGNALLED");
        long killed = System.nanoTime();
        waiting.other.kill();

        List<Peer> waiters = List.of(waiting.first, waiting.second);
        Peer earlier = await("a return")
                .atMost(ANSWER)
                .until(
                        () -> waiters.stream()
                                .filter(peer -> peer.count("t1 RETURNED") > 0)
                                .findFirst(),
                        Optional::isPresent)
                .orElseThrow();
        rig.assertTook("signaller killed", SHORT_LEASE.plus(GRACE), killed, unlockOnReturn(earlier));
        unlockOnReturn(earlier == waiting.first ? waiting.second : waiting.first);
        rig.leave();
    }

    /**
     * A JVM that is stopped past its lease while it waits doesn't wait any more: its thread returns when it goes on.
     */
    @Test
    void stoppedWaiterIsPassedOverAndReturnsLater() {
        var waiting = waiting("waiter-stopped", SHORT_LEASE);
        Peer stopped = waiting.first;
        stopped.stop();
        awaitSilence();
        long left = waiting.signal();
        rig.assertTook("stopped", SLACK, left, unlockOnReturn(waiting.second));
        stopped.cont();
        stopped.hear("t1", "RETURNED");
        stopped.ask("t1", "assert", "HELD");
        assertThat(stopped.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS true 1");
        stopped.exit("t1", "lock");
        rig.leave();
    }
}
