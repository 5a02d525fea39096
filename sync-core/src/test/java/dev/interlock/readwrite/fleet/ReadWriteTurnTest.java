package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.TooLate.assertBetween;
import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Peer.Entry;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;
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

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    private List<Peer> start(int count, String what, String kind) {
        return rig.start(count, new ReadWriteSubject(), rig.name(what), LEASE, kind);
    }

    private long report(String what, long[] nanos) {
        long[] sorted = LongStream.of(nanos).sorted().toArray();
        long median = sorted[sorted.length / 2];
        rig.report(
                String.format("%s: median %d us, most %d us", what, median / 1_000, sorted[sorted.length - 1] / 1_000));
        return median;
    }

    /** Who has written goes on reading: a reader of another JVM that has waited enters at once, a writer doesn't. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair"})
    void readersEnterAtOnceWhenAWriterReadsOn(String kind) {
        List<Peer> peers = start(3, "downgrade", kind);
        Peer writer = peers.get(0);
        Peer reader = peers.get(1);
        Peer next = peers.get(2);
        long[] took = new long[ROUNDS];
        long token = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Entry held = writer.enter("t1", "write");
            assertThat(held.token()).isGreaterThan(token);
            reader.queue("t1", "read", 0);
            next.queue("t1", "write", 1);
            writer.enter("t1", "read");
            long left = writer.exit("t1", "write");
            took[round] = reader.awaitEntry("t1").nanos() - left;
            writer.ask("t1", "assert-read", "HELD");
            writer.exit("t1", "read");
            assertThat(next.count("t1 ENTERED")).isEqualTo(round);
            long read = reader.exit("t1", "read");
            Entry last = next.awaitEntry("t1");
            last.assertAfter(read, held);
            token = last.token();
            next.exit("t1", "write");
        }
        assertWithin(AT_ONCE, Duration.ofNanos(report("from writing to reading, " + kind, took)));
        rig.leave();
    }

    /** A writer waits for a condition and another JVM signals it, while readers of a third come and go all the time. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair"})
    void writersSignalEachOtherAmongReaders(String kind) {
        List<Peer> peers = start(3, "condition", kind);
        Peer waiter = peers.get(0);
        Peer signaller = peers.get(1);
        Peer readers = peers.get(2);
        readers.ask("stream", "stream", "STREAMS");
        long[] took = new long[SIGNALS];
        for (int i = 0; i < SIGNALS; i++) {
            waiter.enter("t1", "write");
            // The holds of both kinds come back.
            waiter.enter("t1", "read");
            waiter.tell("t1", "await");
            signaller.enter("t1", "write");
            signaller.ask("t1", "signal", "SIGNALLED");
            long left = signaller.exit("t1", "write");
            String[] returned = waiter.hear("t1", "RETURNED", SOON).split(" ", -1);
            took[i] = Long.parseLong(returned[1]) - left;
            assertBetween(Duration.ZERO, SOON, Duration.ofNanos(took[i]));
            assertThat(returned[2] + " " + returned[3]).isEqualTo("1 1");
            waiter.ask("t1", "assert-write", "HELD");
            waiter.exit("t1", "read");
            waiter.exit("t1", "write");
        }
        report("from the signaller to the waiter, " + kind, took);
        String[] read = readers.ask("stream", "end-stream", "STREAMED").split(" ", -1);
        assertThat(Long.parseLong(read[1])).as("passages of readers").isGreaterThan(SIGNALS);
        assertThat(readers.count("STREAM-LOST")).isZero();
        rig.leave();
    }
}
