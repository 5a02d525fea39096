package dev.interlock.barrier.fleet;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each way in which a generation breaks, with its parties in three JVMs. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("proof")
@Timely
class BarrierBreakageTest {
    private static final Duration LEASE = Duration.ofSeconds(3);
    private static final Duration GRACE = Duration.ofSeconds(2);
    private static final Duration ANSWER = Duration.ofSeconds(30);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private String name;
    private String key;
    private Fleet fleet;

    BarrierBreakageTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @BeforeEach
    void start() {
        name = keyspace.name("breakage");
        key = "interlock:{" + name + "}:barrier";
        fleet = Fleet.start(
                3,
                jvm -> ChildJvm.of(BarrierConsole.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .arguments(keyspace.server().url(), name, "3", Long.toString(LEASE.toMillis())));
        fleet.awaitAll("READY", Duration.ofSeconds(60));
    }

    @AfterEach
    void end() {
        fleet.send("t end");
        fleet.forEach(child -> child.waitFor(ANSWER));
        fleet.close();
    }

    private void awaitArrived(int count) {
        await("arrivals")
                .atMost(ANSWER)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> String.valueOf(count)
                        .equals(String.valueOf(keyspace.server().command("HGET", key, "arrived"))));
    }

    /** Has threads of two JVMs wait. */
    private void twoCome() {
        fleet.get(0).send("a await");
        awaitArrived(1);
        fleet.get(1).send("b await");
        awaitArrived(2);
    }

    /** What a thread has met, and when. */
    private record Met(String what, long nanos) {}

    private Met met(int jvm, String thread) {
        String[] words = fleet.get(jvm).await(thread + " MET ", ANSWER).split(" ", -1);
        return new Met(words[2], Long.parseLong(words[3]));
    }

    private Duration report(String what, long from, Met met) {
        Duration took = Duration.ofNanos(met.nanos - from);
        reporter.publishEntry(what + ": " + took.toMillis() + " ms");
        return took;
    }

    private void assertBroken(Met met) {
        assertThat(met.what).isEqualTo("BrokenBarrierException");
    }

    /** After a reset by one of them, JVMs that are left meet again. */
    private void assertMendable(int... jvms) {
        fleet.get(jvms[0]).send("r reset");
        fleet.get(jvms[0]).await("r OK reset", ANSWER);
        int last = jvms[jvms.length - 1];
        for (int i = 0; i < 3; i++) {
            fleet.get(i < jvms.length ? jvms[i] : last).send("m" + i + " await");
            if (i < 2) {
                awaitArrived(i + 1);
            }
        }
        for (int i = 0; i < 3; i++) {
            assertThat(met(i < jvms.length ? jvms[i] : last, "m" + i).what).isEqualTo(Integer.toString(2 - i));
        }
    }

    @Test
    void timeout() {
        fleet.get(0).send("a await");
        awaitArrived(1);
        long begun = Monotonic.nanos();
        fleet.get(1).send("b within 300");
        assertThat(met(1, "b").what).isEqualTo("TimeoutException");
        Met other = met(0, "a");
        assertBroken(other);
        assertBetween(Duration.ofMillis(300), GRACE.plusMillis(300), report("timed out", begun, other));
        fleet.get(2).send("c await");
        assertBroken(met(2, "c"));
        assertMendable(0, 1, 2);
    }

    @Test
    void interrupt() {
        twoCome();
        long begun = Monotonic.nanos();
        fleet.get(1).send("b interrupt");
        assertThat(met(1, "b").what).isEqualTo("InterruptedException");
        Met other = met(0, "a");
        assertBroken(other);
        assertWithin(GRACE, report("interrupted", begun, other));
        assertMendable(2, 1, 0);
    }

    @Test
    void reset() {
        twoCome();
        long begun = Monotonic.nanos();
        fleet.get(2).send("c reset");
        assertBroken(met(0, "a"));
        Met other = met(1, "b");
        assertBroken(other);
        assertWithin(GRACE, report("reset", begun, other));
        assertMendable(0, 1, 2);
    }

    @Test
    void failingAction() {
        twoCome();
        fleet.get(2).send("c linger -1");
        fleet.get(2).send("c await");
        assertThat(met(2, "c").what).isEqualTo("IllegalStateException");
        assertBroken(met(0, "a"));
        assertBroken(met(1, "b"));
        assertMendable(0, 1, 2);
    }

    /** A member is killed whose thread has arrived. */
    @Test
    void deathOfWhoHasArrived() {
        twoCome();
        long killed = Monotonic.nanos();
        fleet.get(1).kill();
        Met other = met(0, "a");
        assertBroken(other);
        assertWithin(LEASE.plus(GRACE), report("killed, arrived", killed, other));
        assertMendable(2, 0);
    }

    /** A member is killed whose thread has not arrived. */
    @Test
    void deathOfWhoIsAwaited() {
        twoCome();
        long killed = Monotonic.nanos();
        fleet.get(2).kill();
        Met other = met(0, "a");
        assertBroken(other);
        assertBroken(met(1, "b"));
        assertWithin(LEASE.plus(GRACE), report("killed, awaited", killed, other));
        assertMendable(1, 0);
    }

    /** A member is killed while it runs the action. */
    @Test
    void deathOfWhoRunsTheAction() {
        twoCome();
        fleet.get(2).send("c linger 60000");
        fleet.get(2).send("c await");
        fleet.get(2).await("ACTS", ANSWER);
        long killed = Monotonic.nanos();
        fleet.get(2).kill();
        Met other = met(0, "a");
        assertBroken(other);
        assertBroken(met(1, "b"));
        assertWithin(LEASE.plus(GRACE), report("killed, acting", killed, other));
        assertMendable(1, 0);
    }

    /** An action that takes longer than the lease breaks nothing. */
    @Test
    void actionMayTakeItsTime() {
        twoCome();
        fleet.get(2).send("c linger " + LEASE.plusSeconds(1).toMillis());
        fleet.get(2).send("c await");
        assertThat(met(2, "c").what).isEqualTo("0");
        assertThat(met(0, "a").what).isEqualTo("2");
        assertThat(met(1, "b").what).isEqualTo("1");
    }

    /** A JVM is stopped for longer than its lease; when it goes on, its threads are broken, and count no more. */
    @Test
    void stopped() {
        twoCome();
        long stopped = Monotonic.nanos();
        fleet.get(1).stop();
        Met other = met(0, "a");
        assertBroken(other);
        assertWithin(LEASE.plus(GRACE), report("stopped", stopped, other));
        fleet.get(2).send("r reset");
        fleet.get(2).await("r OK reset", ANSWER);
        fleet.get(0).send("c await");
        awaitArrived(1);
        fleet.get(1).cont();
        assertBroken(met(1, "b"));
        awaitArrived(1);
        fleet.get(1).send("d await");
        awaitArrived(2);
        fleet.get(2).send("e await");
        assertThat(met(0, "c").what).isEqualTo("2");
        assertThat(met(1, "d").what).isEqualTo("1");
        assertThat(met(2, "e").what).isEqualTo("0");
    }

    /** A session that isn't among the parties makes no difference. */
    @Test
    void onlooker() {
        try (Interlock looker = Interlock.connect(keyspace.server().url())) {
            DistributedCyclicBarrier barrier = looker.cyclicBarrier(name, 3);
            twoCome();
            assertThat(barrier.getNumberWaiting()).isEqualTo(2);
            assertThat(barrier.isBroken()).isFalse();
            fleet.get(2).send("c await");
            assertThat(met(2, "c").what).isEqualTo("0");
            assertThat(met(0, "a").what).isEqualTo("2");
            assertThat(barrier.getNumberWaiting()).isZero();
        }
    }
}
