package dev.interlock.barrier.fleet;

import static dev.interlock.testing.rig.Rig.GRACE;
import static org.assertj.core.api.Assertions.assertThat;

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

/** A generation breaks when the JVM of a member is killed or stopped; the others may meet again. */
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

    /** A member is killed whose thread has arrived. */
    @Test
    void killedMemberThatHasArrivedBreaks() {
        twoCome();
        assertBreaks("killed, arrived", LEASE.plus(GRACE), Queue.kill(jvm(1)));
        assertMendable(2, 0);
    }

    /** A member is killed whose thread has not arrived. */
    @Test
    void killedMemberThatIsAwaitedBreaks() {
        twoCome();
        assertBreaks("killed, awaited", LEASE.plus(GRACE), Queue.kill(jvm(2)));
        assertBroken(1, "b");
        assertMendable(1, 0);
    }

    /** A member is killed while it runs the action. */
    @Test
    void killedMemberThatRunsTheActionBreaks() {
        twoCome();
        jvm(2).tell("c", "linger 60000");
        jvm(2).ask("c", "await", "ACTS");
        assertBreaks("killed, acting", LEASE.plus(GRACE), Queue.kill(jvm(2)));
        assertBroken(1, "b");
        assertMendable(1, 0);
    }

    /** A JVM is stopped for longer than its lease; when it goes on, its threads are broken, and count no more. */
    @Test
    void stoppedMemberBreaksAndIsBroken() {
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
}
