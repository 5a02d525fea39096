package dev.interlock.barrier.fleet;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.rig.Rig.GRACE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Queue;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Each way in which a generation breaks, with its parties in three JVMs. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("proof")
@Timely
class BarrierBreakageTest {
    private static final Duration LEASE = Duration.ofSeconds(3);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    private final String name = rig.name("breakage");
    private List<Peer> peers = List.of();

    @BeforeEach
    void start() {
        peers = rig.start(3, new BarrierSubject(), name, LEASE, 3);
    }

    @AfterEach
    void leave() {
        rig.leave();
    }

    private Peer jvm(int index) {
        return peers.get(index);
    }

    /** Has threads of two JVMs wait. */
    private void twoCome() {
        jvm(0).queue("a", "await", 0);
        jvm(1).queue("b", "await", 1);
    }

    /** What a thread has met, and when. */
    private record Met(String what, long nanos) {}

    private Met met(int jvm, String thread) {
        String[] words = jvm(jvm).hear(thread, "MET ").split(" ", -1);
        return new Met(words[1], Long.parseLong(words[2]));
    }

    private void assertMet(int jvm, String thread, String what) {
        assertThat(met(jvm, thread).what).isEqualTo(what);
    }

    /** Asserts that threads have passed which have arrived in that order, each in the JVM at that place. */
    private void assertPassed(String... threads) {
        for (int jvm = 0; jvm < threads.length; jvm++) {
            assertMet(jvm, threads[jvm], Integer.toString(threads.length - 1 - jvm));
        }
    }

    private Met assertBroken(int jvm, String thread) {
        Met met = met(jvm, thread);
        assertThat(met.what).isEqualTo("BrokenBarrierException");
        return met;
    }

    /** Asserts that the thread of the first JVM is broken within a bound. */
    private void assertBreaks(String what, Duration bound, long sinceNanos) {
        rig.assertTook(what, bound, sinceNanos, assertBroken(0, "a").nanos);
    }

    /** After a reset by one of them, JVMs that are left meet again. */
    private void assertMendable(int... jvms) {
        jvm(jvms[0]).ask("r", "reset", "RESET");
        int last = jvms[jvms.length - 1];
        for (int i = 0; i < 3; i++) {
            int jvm = i < jvms.length ? jvms[i] : last;
            if (i < 2) {
                jvm(jvm).queue("m" + i, "await", i);
            } else {
                jvm(jvm).tell("m" + i, "await");
            }
        }
        for (int i = 0; i < 3; i++) {
            assertMet(i < jvms.length ? jvms[i] : last, "m" + i, Integer.toString(2 - i));
        }
    }

    @Test
    void timeout() {
        jvm(0).queue("a", "await", 0);
        long begun = Monotonic.nanos();
        jvm(1).tell("b", "await 300");
        assertMet(1, "b", "TimeoutException");
        Met other = assertBroken(0, "a");
        Duration took = rig.report("timed out", begun, other.nanos);
        assertBetween(Duration.ofMillis(300), GRACE.plusMillis(300), took);
        jvm(2).tell("c", "await");
        assertBroken(2, "c");
        assertMendable(0, 1, 2);
    }

    @Test
    void interrupt() {
        twoCome();
        long begun = Monotonic.nanos();
        jvm(1).tell("i", "interrupt b");
        assertMet(1, "b", "InterruptedException");
        assertBreaks("interrupted", GRACE, begun);
        assertMendable(2, 1, 0);
    }

    @Test
    void reset() {
        twoCome();
        long begun = Monotonic.nanos();
        jvm(2).tell("c", "reset");
        assertBroken(0, "a");
        rig.assertTook("reset", GRACE, begun, assertBroken(1, "b").nanos);
        assertMendable(0, 1, 2);
    }

    @Test
    void failingAction() {
        twoCome();
        jvm(2).tell("c", "linger -1");
        jvm(2).tell("c", "await");
        assertMet(2, "c", "IllegalStateException");
        assertBroken(0, "a");
        assertBroken(1, "b");
        assertMendable(0, 1, 2);
    }

    /** A member is killed whose thread has arrived. */
    @Test
    void deathOfWhoHasArrived() {
        twoCome();
        assertBreaks("killed, arrived", LEASE.plus(GRACE), Queue.kill(jvm(1)));
        assertMendable(2, 0);
    }

    /** A member is killed whose thread has not arrived. */
    @Test
    void deathOfWhoIsAwaited() {
        twoCome();
        assertBreaks("killed, awaited", LEASE.plus(GRACE), Queue.kill(jvm(2)));
        assertBroken(1, "b");
        assertMendable(1, 0);
    }

    /** A member is killed while it runs the action. */
    @Test
    void deathOfWhoRunsTheAction() {
        twoCome();
        jvm(2).tell("c", "linger 60000");
        jvm(2).ask("c", "await", "ACTS");
        assertBreaks("killed, acting", LEASE.plus(GRACE), Queue.kill(jvm(2)));
        assertBroken(1, "b");
        assertMendable(1, 0);
    }

    /** An action that takes longer than the lease breaks nothing. */
    @Test
    void actionMayTakeItsTime() {
        twoCome();
        jvm(2).tell("c", "linger " + LEASE.plusSeconds(1).toMillis());
        jvm(2).tell("c", "await");
        assertPassed("a", "b", "c");
    }

    /** A JVM is stopped for longer than its lease; when it goes on, its threads are broken, and count no more. */
    @Test
    void stopped() {
        twoCome();
        long stopped = Monotonic.nanos();
        jvm(1).stop();
        assertBreaks("stopped", LEASE.plus(GRACE), stopped);
        jvm(2).ask("r", "reset", "RESET");
        jvm(0).queue("c", "await", 0);
        jvm(1).cont();
        assertBroken(1, "b");
        jvm(1).awaitWaiting(1);
        jvm(1).queue("d", "await", 1);
        jvm(2).tell("e", "await");
        assertPassed("c", "d", "e");
    }

    /** A session that isn't among the parties makes no difference. */
    @Test
    void onlooker() {
        try (Interlock looker = Interlock.connect(rig.url())) {
            DistributedCyclicBarrier barrier = looker.cyclicBarrier(name, 3);
            twoCome();
            assertThat(barrier.getNumberWaiting()).isEqualTo(2);
            assertThat(barrier.isBroken()).isFalse();
            jvm(2).tell("c", "await");
            assertPassed("a", "b", "c");
            assertThat(barrier.getNumberWaiting()).isZero();
        }
    }
}
