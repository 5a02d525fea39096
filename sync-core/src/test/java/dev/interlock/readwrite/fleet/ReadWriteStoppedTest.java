package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.readwrite.fleet.ReadWritePeer.Entry;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** JVMs that are stopped for longer than their lease while they read or write. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
@Tag("proof")
class ReadWriteStoppedTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private List<ReadWritePeer> peers = List.of();

    ReadWriteStoppedTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** As {@link ReadWritePeer#start} takes it. */
    String kind() {
        return "plain";
    }

    private void start(int count, String what, Duration lease) {
        peers = ReadWritePeer.start(count, keyspace, keyspace.name(what), kind(), lease);
    }

    private void leave() {
        peers.stream().filter(ReadWritePeer::isAlive).forEach(ReadWritePeer::leave);
    }

    @AfterEach
    void close() {
        peers.forEach(ReadWritePeer::close);
    }

    private Duration report(String what, long from, long to) {
        Duration took = Duration.ofNanos(to - from);
        reporter.publishEntry(what + ": " + took.toMillis() + " ms");
        return took;
    }

    private static void assertLost(ReadWritePeer peer, String act) {
        assertThat(peer.hear("t1", "", ReadWritePeer.ANSWER)).startsWith("THREW " + act + " LeaseLostException ");
    }

    private static void awaitToldOnce(ReadWritePeer peer) {
        await("the listeners")
                .atMost(ReadWritePeer.ANSWER)
                .until(() -> peer.count("LOST session") > 0 && peer.count("LOST lock") > 0);
    }

    private void assertWorksAndWasToldOnce(ReadWritePeer stopped, ReadWritePeer other, long token) {
        long last = token;
        for (ReadWritePeer peer : List.of(stopped, other, stopped)) {
            Entry entry = peer.write("t1");
            assertThat(entry.token()).isGreaterThan(last);
            last = entry.token();
            peer.leaveWrite("t1");
            peer.read("t1");
            peer.ask("t1", "assert-read", "HELD");
            peer.leaveRead("t1");
        }
        assertThat(stopped.count("LOST session")).isEqualTo(1);
        assertThat(stopped.count("LOST lock")).isEqualTo(1);
        assertThat(other.count("LOST")).isZero();
    }

    /** A writer gets in while a reader is stopped; whatever that does first when it wakes, it learns of its loss. */
    @ParameterizedTest
    @ValueSource(strings = {"assert-read", "leave-read"})
    void stoppedReaderIsTold(String firstAct) {
        start(2, "reader-stopped", LEASE);
        ReadWritePeer stopped = peers.get(0);
        ReadWritePeer writer = peers.get(1);
        stopped.read("t1");
        writer.queue("t1", "write", 0);
        long stop = Monotonic.nanos();
        stopped.stop();
        Entry entry = writer.awaitWriter("t1");
        assertWithin(LEASE.plus(GRACE), report("reader stopped", stop, entry.nanos()));
        stopped.tell("t1", firstAct);
        stopped.cont();
        assertLost(stopped, firstAct);
        if (firstAct.equals("assert-read")) {
            assertThat(stopped.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS 1 0");
            stopped.tell("t1", "leave-read");
            assertLost(stopped, "leave-read");
        }
        assertThat(stopped.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS 0 0");
        stopped.queue("t1", "read", 0);
        writer.ask("t1", "assert-write", "HELD");
        long left = writer.leaveWrite("t1");
        assertThat(stopped.awaitReader("t1")).isGreaterThan(left);
        stopped.leaveRead("t1");
        awaitToldOnce(stopped);
        assertWorksAndWasToldOnce(stopped, writer, entry.token());
        leave();
    }

    /**
     * Readers, and then a writer, get in while a writer is stopped; whatever that does first when it wakes, it learns
     * of its loss.
     */
    @ParameterizedTest
    @ValueSource(strings = {"token", "leave-write"})
    void stoppedWriterIsTold(String firstAct) {
        start(3, "writer-stopped", LEASE);
        ReadWritePeer stopped = peers.get(0);
        ReadWritePeer reader = peers.get(1);
        ReadWritePeer writer = peers.get(2);
        Entry stale = stopped.write("t1");
        reader.queue("t1", "read", 0);
        long stop = Monotonic.nanos();
        stopped.stop();
        assertWithin(LEASE.plus(GRACE), report("writer stopped", stop, reader.awaitReader("t1")));
        long left = reader.leaveRead("t1");
        Entry entry = writer.write("t1");
        assertThat(entry.nanos()).isGreaterThan(left);
        assertThat(entry.token()).isGreaterThan(stale.token());
        stopped.tell("t1", firstAct);
        stopped.cont();
        assertLost(stopped, firstAct);
        if (!firstAct.equals("leave-write")) {
            assertThat(stopped.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS 0 1");
            stopped.tell("t1", "leave-write");
            assertLost(stopped, "leave-write");
        }
        assertThat(stopped.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS 0 0");
        writer.ask("t1", "assert-write", "HELD");
        writer.leaveWrite("t1");
        awaitToldOnce(stopped);
        assertWorksAndWasToldOnce(stopped, writer, entry.token());
        leave();
    }

    /** A JVM that is stopped after it has written, and still reads, has lost that, too. */
    @Test
    void stoppedDowngradedWriterIsTold() {
        start(2, "downgraded-stopped", LEASE);
        ReadWritePeer stopped = peers.get(0);
        ReadWritePeer writer = peers.get(1);
        Entry stale = stopped.write("t1");
        stopped.read("t1");
        stopped.leaveWrite("t1");
        writer.queue("t1", "write", 0);
        long stop = Monotonic.nanos();
        stopped.stop();
        Entry entry = writer.awaitWriter("t1");
        assertWithin(LEASE.plus(GRACE), report("downgraded writer stopped", stop, entry.nanos()));
        assertThat(entry.token()).isGreaterThan(stale.token());
        stopped.tell("t1", "leave-read");
        stopped.cont();
        assertLost(stopped, "leave-read");
        writer.leaveWrite("t1");
        awaitToldOnce(stopped);
        assertWorksAndWasToldOnce(stopped, writer, entry.token());
        leave();
    }
}
