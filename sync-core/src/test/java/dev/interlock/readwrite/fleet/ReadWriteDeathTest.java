package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

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

/** JVMs that die by {@code kill -9} while they read, write, or wait for that. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class ReadWriteDeathTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);
    private static final Duration HEARTBEAT = Duration.ofSeconds(3);
    private static final Duration GRACE = Duration.ofSeconds(2);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    private List<ReadWritePeer> peers = List.of();

    ReadWriteDeathTest(TestReporter reporter) {
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

    /** Readers of another JVM come and go; a dead one keeps a writer out for what is left of its own lease. */
    @Test
    @Tag("proof")
    void deadReaderBlocksAWriterForItsLease() {
        start(3, "reader-dies", LEASE);
        ReadWritePeer dead = peers.get(0);
        ReadWritePeer guest = peers.get(1);
        ReadWritePeer writer = peers.get(2);
        for (int i = 0; i < 3; i++) {
            guest.read("t1");
            if (i == 0) {
                dead.read("t1");
            }
            guest.leaveRead("t1");
        }
        guest.read("t1");
        writer.queue("t1", "write", 0);
        long killed = Monotonic.nanos();
        dead.kill();
        long left = guest.leaveRead("t1");
        Entry entry = writer.awaitWriter("t1");
        assertThat(entry.nanos()).isGreaterThan(left);
        assertWithin(LEASE.plus(GRACE), report("reader killed", killed, entry.nanos()));
        writer.leaveWrite("t1");
        leave();
    }

    /** Whoever waits behind a dead writer, to read or to write, gets in when its lease is over. */
    @Test
    void deadWriterBlocksForItsLease() {
        start(3, "writer-dies", LEASE);
        ReadWritePeer dead = peers.get(0);
        ReadWritePeer reader = peers.get(1);
        ReadWritePeer writer = peers.get(2);
        Entry held = dead.write("t1");
        reader.queue("t1", "read", 0);
        writer.queue("t1", "write", 1);
        long killed = Monotonic.nanos();
        dead.kill();
        long reads = reader.awaitReader("t1");
        assertWithin(LEASE.plus(GRACE), report("writer killed", killed, reads));
        long left = reader.leaveRead("t1");
        Entry entry = writer.awaitWriter("t1");
        assertThat(entry.nanos()).isGreaterThan(left);
        assertThat(entry.token()).isGreaterThan(held.token());
        writer.leaveWrite("t1");
        leave();
    }

    /**
     * A dead JVM stands first in the queue, to write; readers behind it get in beside those who read, once it is known
     * to be dead.
     */
    @Test
    @Tag("proof")
    void deadWaitingWriterDoesNotKeepReadersOut() {
        start(3, "waiting-writer-dies", LONG_LEASE);
        ReadWritePeer reading = peers.get(0);
        ReadWritePeer dead = peers.get(1);
        ReadWritePeer reader = peers.get(2);
        reading.read("t1");
        dead.queue("t1", "write", 0);
        reader.queue("t1", "read", 1);
        assertThat(reader.count("t1 READS")).isZero();
        long killed = Monotonic.nanos();
        dead.kill();
        long reads = reader.awaitReader("t1");
        assertWithin(HEARTBEAT.plus(GRACE), report("waiting writer killed", killed, reads));
        reading.ask("t1", "assert-read", "HELD");
        reader.leaveRead("t1");
        reading.leaveRead("t1");
        leave();
    }

    /**
     * The same for a second thread of the JVM that reads, and for one that comes after it, whether that one had to wait
     * or not.
     */
    @Test
    @Tag("proof")
    void deadWaitingWriterDoesNotKeepThreadsOfTheReadingJvmOut() {
        start(2, "waiting-writer-dies-2", LONG_LEASE);
        ReadWritePeer reading = peers.get(0);
        ReadWritePeer dead = peers.get(1);
        reading.read("t1");
        dead.queue("t1", "write", 0);
        reading.tell("t2", "read");
        long killed = Monotonic.nanos();
        dead.kill();
        long reads = reading.awaitReader("t2");
        assertWithin(HEARTBEAT.plus(GRACE), report("waiting writer killed, same JVM", killed, reads));
        // Once it is known to be dead, which the second one may not have had to wait for.
        long known = Math.max(Monotonic.nanos(), killed + HEARTBEAT.toNanos());
        assertWithin(GRACE, report("later", known, reading.read("t3")));
        for (String thread : List.of("t3", "t2", "t1")) {
            reading.ask(thread, "assert-read", "HELD");
            reading.leaveRead(thread);
        }
        leave();
    }

    /** A writer of another JVM has given up: threads of the JVM that reads read beside those who do. */
    @Test
    @Tag("proof")
    void writerThatHasGivenUpDoesNotKeepThreadsOfTheReadingJvmOut() {
        start(2, "writer-gives-up", LONG_LEASE);
        ReadWritePeer reading = peers.get(0);
        ReadWritePeer writer = peers.get(1);
        reading.read("t1");
        assertThat(writer.ask("t1", "try-write", "TRIED")).isEqualTo("TRIED false");
        long gaveUp = Monotonic.nanos();
        long reads = reading.read("t2");
        assertWithin(GRACE, report("writer gave up", gaveUp, reads));
        reading.leaveRead("t2");
        reading.leaveRead("t1");
        leave();
    }

    /**
     * A JVM dies that waits to read, just before its turn: it costs the next one the short lease that it was granted.
     */
    @Test
    @Tag("proof")
    void deadWaitingReaderDelaysAWriterByAShortLease() {
        start(3, "waiting-reader-dies", LONG_LEASE);
        ReadWritePeer holder = peers.get(0);
        ReadWritePeer dead = peers.get(1);
        ReadWritePeer writer = peers.get(2);
        Entry held = holder.write("t1");
        dead.queue("t1", "read", 0);
        writer.queue("t1", "write", 1);
        dead.kill();
        long left = holder.leaveWrite("t1");
        Entry entry = writer.awaitWriter("t1");
        assertWithin(HEARTBEAT.plus(GRACE), report("waiting reader killed", left, entry.nanos()));
        assertThat(entry.token()).isGreaterThan(held.token());
        writer.leaveWrite("t1");
        leave();
    }
}
