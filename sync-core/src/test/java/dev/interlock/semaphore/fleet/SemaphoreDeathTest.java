package dev.interlock.semaphore.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die by {@code kill -9}, or are stopped, while they have permits or wait for some. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class SemaphoreDeathTest {

    private static final int PERMITS = 5;
    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private List<SemaphorePeer> peers = List.of();

    SemaphoreDeathTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    private void start(int count, String what, Kind kind, Duration lease) {
        peers = SemaphorePeer.start(count, keyspace, keyspace.name(what), kind, PERMITS, lease);
    }

    private void leave() {
        peers.stream().filter(SemaphorePeer::isAlive).forEach(SemaphorePeer::leave);
    }

    @AfterEach
    void close() {
        peers.forEach(SemaphorePeer::close);
    }

    private Duration report(String what, long from, long to) {
        Duration took = Duration.ofNanos(to - from);
        reporter.publishEntry(what + ": " + took.toMillis() + " ms");
        return took;
    }

    /**
     * Who waits for what a dead JVM had gets it by the end of the dead one's lease; at the end all permits are there.
     */
    @Test
    void permitsOfADeadJvmAreBackByItsLease() {
        start(3, "holder-dies", Kind.PLAIN, LEASE);
        SemaphorePeer dead = peers.get(0);
        SemaphorePeer waiter = peers.get(1);
        SemaphorePeer other = peers.get(2);
        dead.acquire("t1", 1);
        dead.acquire("t2", 1);
        other.acquire("t1", 2);
        waiter.queue("t1", 3);
        long killed = Monotonic.nanos();
        dead.kill();

        long acquired = waiter.awaitAcquired("t1");

        assertWithin(LEASE.plus(GRACE), report("killed with two permits", killed, acquired));
        assertThat(other.available()).isZero();
        waiter.release("t1", 3);
        other.release("t1", 2);
        assertThat(other.available()).isEqualTo(PERMITS);
        assertThat(waiter.tries("t1", PERMITS + 1)).isFalse();
        assertThat(waiter.tries("t1", PERMITS)).isTrue();
        waiter.release("t1", PERMITS);
        leave();
    }

    /** Nobody waits: whoever looks after the lease finds them back. */
    @Test
    @Tag("proof")
    void permitsOfADeadJvmAreBackThoughNobodyWaits() {
        start(2, "holder-dies-alone", Kind.PLAIN, LEASE);
        SemaphorePeer dead = peers.get(0);
        SemaphorePeer other = peers.get(1);
        dead.acquire("t1", 2);
        assertThat(other.available()).isEqualTo(PERMITS - 2);
        dead.kill();

        await("they are back").atMost(LEASE.plus(GRACE)).until(() -> other.available() == PERMITS);

        assertThat(other.tries("t1", PERMITS)).isTrue();
        other.release("t1", PERMITS);
        leave();
    }

    /** A dead JVM is the first in the queue, for more than there is: those behind it get in by the end of its lease. */
    @Test
    @Tag("proof")
    void deadWaiterAtTheHeadIsSkipped() {
        start(3, "waiter-dies", Kind.FAIR, LEASE);
        SemaphorePeer holder = peers.get(0);
        SemaphorePeer dead = peers.get(1);
        SemaphorePeer next = peers.get(2);
        holder.acquire("t1", 2);
        dead.queue("t1", PERMITS);
        next.queue("t1", 2);
        assertThat(next.count("t1 ACQUIRED")).isZero();
        long killed = Monotonic.nanos();
        dead.kill();

        long acquired = next.awaitAcquired("t1");

        assertWithin(LEASE.plus(GRACE), report("killed at the head of the queue", killed, acquired));
        next.release("t1", 2);
        holder.release("t1", 2);
        assertThat(next.available()).isEqualTo(PERMITS);
        leave();
    }

    /** A JVM dies that waits and has permits, too. */
    @Test
    @Tag("proof")
    void deadHolderThatWaitsForMoreGivesAllBack() {
        start(2, "both-dies", Kind.PLAIN, LEASE);
        SemaphorePeer dead = peers.get(0);
        SemaphorePeer next = peers.get(1);
        dead.acquire("t1", 3);
        dead.queue("t2", 3);
        next.queue("t1", PERMITS);
        long killed = Monotonic.nanos();
        dead.kill();

        long acquired = next.awaitAcquired("t1");

        assertWithin(LEASE.plus(GRACE), report("killed with three permits", killed, acquired));
        next.release("t1", PERMITS);
        assertThat(next.available()).isEqualTo(PERMITS);
        leave();
    }

    /** Permits that belong to nobody don't come back by themselves, but anybody may release them. */
    @Test
    @Tag("proof")
    void unownedPermitsOutliveTheirJvm() {
        start(2, "unowned-dies", Kind.UNOWNED, LEASE);
        SemaphorePeer dead = peers.get(0);
        SemaphorePeer other = peers.get(1);
        dead.acquire("t1", 2);
        dead.kill();

        await("the lease and more")
                .pollDelay(LEASE.plus(GRACE))
                .atMost(SemaphorePeer.ANSWER)
                .until(() -> other.available() == PERMITS - 2);

        other.release("t1", 2);
        assertThat(other.available()).isEqualTo(PERMITS);
        leave();
    }

    /** The same for a waiter: its place doesn't outlive it. */
    @Test
    @Tag("proof")
    void deadWaiterForUnownedPermitsIsSkipped() {
        start(3, "unowned-waiter-dies", Kind.UNOWNED, LEASE);
        SemaphorePeer holder = peers.get(0);
        SemaphorePeer dead = peers.get(1);
        SemaphorePeer next = peers.get(2);
        holder.acquire("t1", 2);
        dead.queue("t1", PERMITS);
        next.queue("t1", 2);
        long killed = Monotonic.nanos();
        dead.kill();

        long acquired = next.awaitAcquired("t1");

        assertWithin(LEASE.plus(GRACE), report("killed at the head, unowned", killed, acquired));
        next.release("t1", 2);
        holder.release("t1", 2);
        assertThat(next.available()).isEqualTo(PERMITS);
        leave();
    }

    /**
     * A JVM that is stopped past its lease has lost its permits. It's told, its releases free nothing, and the pool is
     * exact.
     */
    @Test
    void stoppedJvmLosesItsPermits() {
        start(2, "stopped", Kind.PLAIN, LEASE);
        SemaphorePeer stopped = peers.get(0);
        SemaphorePeer other = peers.get(1);
        stopped.acquire("t1", 1);
        stopped.acquire("t2", 2);
        stopped.queue("t3", 3);
        other.queue("t1", PERMITS);
        long stop = Monotonic.nanos();
        stopped.stop();

        long acquired = other.awaitAcquired("t1");
        assertWithin(LEASE.plus(GRACE), report("stopped with three permits", stop, acquired));
        stopped.tell("t1", "release", 1);
        stopped.cont();

        assertThat(stopped.hear("t1", "")).startsWith("THREW release LeaseLostException ");
        stopped.tell("t2", "release", 2);
        assertThat(stopped.hear("t2", "")).startsWith("THREW release LeaseLostException ");
        await("the listeners")
                .atMost(SemaphorePeer.ANSWER)
                .until(() -> stopped.count("LOST session") == 1 && stopped.count("LOST semaphore") == 1);
        assertThat(stopped.count("t3 ACQUIRED")).isZero();
        long left = other.release("t1", PERMITS);
        assertThat(stopped.awaitAcquired("t3")).isGreaterThan(left);
        assertThat(other.available()).isEqualTo(PERMITS - 3);
        stopped.release("t3", 3);
        assertThat(other.available()).isEqualTo(PERMITS);
        assertThat(stopped.available()).isEqualTo(PERMITS);
        assertThat(stopped.count("LOST")).isEqualTo(2);
        assertThat(other.count("LOST")).isZero();
        leave();
    }

    /**
     * A JVM that is stopped past its lease while it waits doesn't get in on what it was granted meanwhile, but in a new
     * turn.
     */
    @Test
    @Tag("proof")
    void stoppedWaiterWaitsAnew() {
        start(3, "stopped-waiter", Kind.PLAIN, LEASE);
        SemaphorePeer holder = peers.get(0);
        SemaphorePeer stopped = peers.get(1);
        SemaphorePeer next = peers.get(2);
        holder.acquire("t1", PERMITS);
        stopped.queue("t1", PERMITS);
        next.queue("t1", PERMITS);
        stopped.stop();
        holder.release("t1", PERMITS);

        next.awaitAcquired("t1");
        stopped.cont();
        await("its new place in the queue")
                .pollDelay(Duration.ofMillis(300))
                .atMost(SemaphorePeer.ANSWER)
                .until(() -> next.available() == 0);
        assertThat(stopped.count("t1 ACQUIRED")).isZero();
        long left = next.release("t1", PERMITS);

        assertThat(stopped.awaitAcquired("t1")).isGreaterThan(left);
        stopped.release("t1", PERMITS);
        assertThat(next.available()).isEqualTo(PERMITS);
        assertThat(stopped.count("LOST")).isZero();
        leave();
    }

    /** A pause well inside the lease loses nothing. */
    @Test
    @Tag("proof")
    void shortPauseLosesNothing() {
        start(2, "short-pause", Kind.PLAIN, LONG_LEASE);
        SemaphorePeer stopped = peers.get(0);
        SemaphorePeer other = peers.get(1);
        stopped.acquire("t1", 2);
        stopped.stop();
        await("two seconds of pause")
                .pollDelay(Duration.ofSeconds(2))
                .atMost(SemaphorePeer.ANSWER)
                .until(() -> other.available() == PERMITS - 2);
        stopped.cont();

        stopped.release("t1", 2);

        assertThat(other.available()).isEqualTo(PERMITS);
        assertThat(stopped.count("LOST")).isZero();
        leave();
    }
}
