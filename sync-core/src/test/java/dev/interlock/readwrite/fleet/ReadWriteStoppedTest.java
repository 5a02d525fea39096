package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.rig.Peer.ANSWER;
import static dev.interlock.testing.rig.Rig.GRACE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Peer.Entry;
import dev.interlock.testing.rig.Queue;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** JVMs that are stopped for longer than their lease while they read or write. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
@Tag("proof")
class ReadWriteStoppedTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    private Queue queue(int count, String what, String... sections) {
        return rig.queue(count, new ReadWriteSubject(), what, LEASE, "plain", sections);
    }

    /** Its listeners have heard once of what it lost; both JVMs read and write as before, and nothing else is lost. */
    private void assertWorksAndWasToldOnce(Peer stopped, Peer other, Entry before) {
        await("the listeners")
                .atMost(ANSWER)
                .until(() -> stopped.count("LOST session") > 0 && stopped.count("LOST lock") > 0);
        Entry last = before;
        for (Peer peer : List.of(stopped, other, stopped)) {
            Entry entry = peer.enter("t1", "write");
            entry.assertTokenAfter(last);
            last = entry;
            peer.exit("t1", "write");
            peer.enter("t1", "read");
            peer.ask("t1", "assert-read", "HELD");
            peer.exit("t1", "read");
        }
        assertThat(stopped.count("LOST session")).isEqualTo(1);
        assertThat(stopped.count("LOST lock")).isEqualTo(1);
        assertThat(other.count("LOST")).isZero();
        rig.leave();
    }

    /** Has a stopped JVM go on, and its thread, which is told of its loss whatever it does, leave. */
    private static void assertIsTold(Peer stopped, String firstAct, String leave, String holds) {
        stopped.tell("t1", firstAct);
        stopped.cont();
        stopped.assertLost("t1", firstAct);
        if (!firstAct.equals(leave)) {
            assertThat(stopped.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS " + holds);
            stopped.tell("t1", leave);
            stopped.assertLost("t1", leave);
        }
        assertThat(stopped.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS 0 0");
    }

    /**
     * Readers, and then a writer, get in while a writer is stopped; whatever that does first when it wakes, it learns
     * of its loss.
     */
    @ParameterizedTest
    @ValueSource(strings = {"token", "leave-write"})
    void stoppedWriterIsTold(String firstAct) {
        var queue = queue(3, "writer-stopped", "write", "read");
        Peer stopped = queue.holder();
        Peer reader = queue.first();
        Peer writer = queue.second();
        queue.assertEnters(reader, "writer stopped", queue.stopHolder(), LEASE.plus(GRACE));
        long left = reader.exit("t1", "read");
        Entry entry = writer.enter("t1", "write");
        entry.assertAfter(left, queue.held());
        assertIsTold(stopped, firstAct, "leave-write", "0 1");
        writer.ask("t1", "assert-write", "HELD");
        writer.exit("t1", "write");
        assertWorksAndWasToldOnce(stopped, writer, entry);
    }
}
