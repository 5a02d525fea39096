package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.readwrite.fleet.ReadWritePeer.Entry;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How the lock goes from one JVM to the next: from writing to reading, and by way of a condition. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class ReadWriteTurnTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration AT_ONCE = Duration.ofMillis(100);
    private static final Duration SOON = Duration.ofSeconds(5);
    private static final int ROUNDS = 51;
    private static final int SIGNALS = 10;

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private List<ReadWritePeer> peers = List.of();

    ReadWriteTurnTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    private void start(int count, String what, String kind) {
        peers = ReadWritePeer.start(count, keyspace, keyspace.name(what), kind, LEASE);
    }

    private void leave() {
        peers.forEach(ReadWritePeer::leave);
    }

    @AfterEach
    void close() {
        peers.forEach(ReadWritePeer::close);
    }

    private long report(String what, long[] nanos) {
        long[] sorted = LongStream.of(nanos).sorted().toArray();
        long median = sorted[sorted.length / 2];
        reporter.publishEntry(
                String.format("%s: median %d us, most %d us", what, median / 1_000, sorted[sorted.length - 1] / 1_000));
        return median;
    }

    /** Who has written goes on reading: a reader of another JVM that has waited enters at once, a writer doesn't. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair"})
    void readersEnterAtOnceWhenAWriterReadsOn(String kind) {
        start(3, "downgrade", kind);
        ReadWritePeer writer = peers.get(0);
        ReadWritePeer reader = peers.get(1);
        ReadWritePeer next = peers.get(2);
        long[] took = new long[ROUNDS];
        long token = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Entry held = writer.write("t1");
            assertThat(held.token()).isGreaterThan(token);
            reader.queue("t1", "read", 0);
            next.queue("t1", "write", 1);
            writer.read("t1");
            long left = writer.leaveWrite("t1");
            took[round] = reader.awaitReader("t1") - left;
            writer.ask("t1", "assert-read", "HELD");
            writer.leaveRead("t1");
            assertThat(next.count("t1 WRITES")).isEqualTo(round);
            long read = reader.leaveRead("t1");
            Entry last = next.awaitWriter("t1");
            assertThat(last.nanos()).isGreaterThan(read);
            assertThat(last.token()).isGreaterThan(held.token());
            token = last.token();
            next.leaveWrite("t1");
        }
        assertWithin(AT_ONCE, Duration.ofNanos(report("from writing to reading, " + kind, took)));
        leave();
    }

    /** A writer waits for a condition and another JVM signals it, while readers of a third come and go all the time. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair"})
    void writersSignalEachOtherAmongReaders(String kind) {
        start(3, "condition", kind);
        ReadWritePeer waiter = peers.get(0);
        ReadWritePeer signaller = peers.get(1);
        ReadWritePeer readers = peers.get(2);
        readers.ask("stream", "stream", "STREAMS");
        long[] took = new long[SIGNALS];
        for (int i = 0; i < SIGNALS; i++) {
            waiter.write("t1");
            // The holds of both kinds come back.
            waiter.read("t1");
            waiter.tell("t1", "await");
            signaller.write("t1");
            signaller.ask("t1", "signal", "SIGNALLED");
            long left = signaller.leaveWrite("t1");
            String[] returned = waiter.hear("t1", "RETURNED", SOON).split(" ", -1);
            took[i] = Long.parseLong(returned[1]) - left;
            assertBetween(Duration.ZERO, SOON, Duration.ofNanos(took[i]));
            assertThat(returned[2] + " " + returned[3]).isEqualTo("1 1");
            waiter.ask("t1", "assert-write", "HELD");
            waiter.leaveRead("t1");
            waiter.leaveWrite("t1");
        }
        report("from the signaller to the waiter, " + kind, took);
        String[] read = readers.ask("stream", "end-stream", "STREAMED").split(" ", -1);
        assertThat(Long.parseLong(read[1])).as("passages of readers").isGreaterThan(SIGNALS);
        assertThat(readers.count("STREAM-LOST")).isZero();
        leave();
    }
}
