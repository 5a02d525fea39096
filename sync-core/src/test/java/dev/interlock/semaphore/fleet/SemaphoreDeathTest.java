package dev.interlock.semaphore.fleet;

import static dev.interlock.semaphore.fleet.SemaphoreSubject.PERMITS;
import static dev.interlock.semaphore.fleet.SemaphoreSubject.permits;
import static dev.interlock.testing.rig.Peer.ANSWER;
import static dev.interlock.testing.rig.Rig.GRACE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Queue;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die by {@code kill -9}, or are stopped, while they have permits or wait for some. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class SemaphoreDeathTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** Peers of which the first has so many permits, and the others wait for so many. */
    private Queue queue(int count, String what, Kind kind, Duration lease, int... permits) {
        String[] sections =
                Arrays.stream(permits).mapToObj(SemaphoreSubject::permits).toArray(String[]::new);
        return rig.queue(count, new SemaphoreSubject(), what, lease, kind, sections);
    }

    private static long available(Peer peer) {
        return peer.number("looker", "available", "AVAILABLE");
    }

    private static void assertTries(Peer peer, int permits, boolean succeeds) {
        assertThat(peer.ask("t1", "try " + permits, "TRIED")).isEqualTo("TRIED " + succeeds);
    }

    /** Has a thread release the permits that are in use, so that all are there, and ends the test. */
    private void assertAllAreBack(Peer peer, int inUse) {
        peer.exit("t1", permits(inUse));
        assertThat(available(peer)).isEqualTo(PERMITS);
        rig.leave();
    }

    /**
     * Threads that wait for what a dead JVM had get it by the end of the dead one's lease; at the end all permits are
     * there.
     */
    @Test
    void permitsOfADeadJvmAreBackByItsLease() {
        var queue = queue(3, "holder-dies", Kind.PLAIN, LEASE, 1);
        Peer waiter = queue.first();
        Peer other = queue.second();
        queue.holder().enter("t2", permits(1));
        other.enter("t1", permits(2));
        waiter.queue("t1", permits(3), 0);
        queue.assertEnters(waiter, "killed with two permits", queue.killHolder(), LEASE.plus(GRACE));
        assertThat(available(other)).isZero();
        waiter.exit("t1", permits(3));
        other.exit("t1", permits(2));
        assertThat(available(other)).isEqualTo(PERMITS);
        assertTries(waiter, PERMITS + 1, false);
        assertTries(waiter, PERMITS, true);
        assertAllAreBack(waiter, PERMITS);
    }

    /** The same for unowned permits: a waiter's place doesn't outlive it. */
    @Test
    @Tag("proof")
    void deadWaiterForUnownedPermitsIsSkipped() {
        assertDeadWaiterAtTheHeadIsSkipped("unowned-waiter-dies", Kind.UNOWNED);
    }

    private void assertDeadWaiterAtTheHeadIsSkipped(String what, Kind kind) {
        var queue = queue(3, what, kind, LEASE, 2, PERMITS, 2);
        Peer next = queue.second();
        assertThat(next.count("t1 ENTERED")).isZero();
        long killed = Queue.kill(queue.first());
        queue.assertEnters(next, "killed at the head of the queue, " + kind, killed, LEASE.plus(GRACE));
        queue.leave();
        assertAllAreBack(next, 2);
    }

    /** Permits that belong to nobody don't come back by themselves, but anybody may release them. */
    @Test
    @Tag("proof")
    void unownedPermitsOutliveTheirJvm() {
        var queue = queue(2, "unowned-dies", Kind.UNOWNED, LEASE, 2);
        Peer other = queue.first();
        queue.killHolder();
        await("the lease and more")
                .pollDelay(LEASE.plus(GRACE))
                .atMost(ANSWER)
                .until(() -> available(other) == PERMITS - 2);
        assertAllAreBack(other, 2);
    }

    /**
     * A JVM that is stopped past its lease has lost its permits. It's told, its releases free nothing, and the pool is
     * exact.
     */
    @Test
    void stoppedJvmLosesItsPermits() {
        var queue = queue(2, "stopped", Kind.PLAIN, LEASE, 1);
        Peer stopped = queue.holder();
        Peer other = queue.first();
        stopped.enter("t2", permits(2));
        stopped.queue("t3", permits(3), 0);
        other.queue("t1", permits(PERMITS), 1);
        queue.assertEnters(other, "stopped with three permits", queue.stopHolder(), LEASE.plus(GRACE));
        stopped.tell("t1", "leave-permits 1");
        stopped.cont();

        stopped.assertLost("t1", "leave-permits");
        stopped.tell("t2", "leave-permits 2");
        stopped.assertLost("t2", "leave-permits");
        await("the listeners")
                .atMost(ANSWER)
                .until(() -> stopped.count("LOST session") == 1 && stopped.count("LOST semaphore") == 1);
        assertThat(stopped.count("t3 ENTERED")).isZero();
        long left = other.exit("t1", permits(PERMITS));
        assertThat(stopped.awaitEntry("t3").nanos()).isGreaterThan(left);
        assertThat(available(other)).isEqualTo(PERMITS - 3);
        stopped.exit("t3", permits(3));
        assertThat(available(other)).isEqualTo(PERMITS);
        assertThat(available(stopped)).isEqualTo(PERMITS);
        assertThat(stopped.count("LOST")).isEqualTo(2);
        assertThat(other.count("LOST")).isZero();
        rig.leave();
    }
}
