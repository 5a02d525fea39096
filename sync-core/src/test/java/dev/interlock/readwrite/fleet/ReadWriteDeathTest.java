package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.rig.Rig.GRACE;
import static dev.interlock.testing.rig.Rig.HEARTBEAT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Peer.Entry;
import dev.interlock.testing.rig.Queue;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die by {@code kill -9} while they read, write, or wait for that. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class ReadWriteDeathTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** As {@link ReadWriteSubject} takes it. */
    String kind() {
        return "plain";
    }

    private Queue queue(int count, String what, Duration lease, String... sections) {
        return rig.queue(count, new ReadWriteSubject(), what, lease, kind(), sections);
    }

    /** Readers of another JVM come and go; a dead one keeps a writer out for what is left of its own lease. */
    @Test
    @Tag("proof")
    void deadReaderBlocksAWriterForItsLease() {
        var queue = queue(3, "reader-dies", LEASE, "read");
        Peer guest = queue.holder();
        Peer dead = queue.first();
        Peer writer = queue.second();
        dead.enter("t1", "read");
        guest.exit("t1", "read");
        for (int i = 0; i < 2; i++) {
            guest.enter("t1", "read");
            guest.exit("t1", "read");
        }
        guest.enter("t1", "read");
        writer.queue("t1", "write", 0);
        long killed = Queue.kill(dead);
        long left = guest.exit("t1", "read");
        Entry entry = queue.assertEnters(writer, "reader killed", killed, LEASE.plus(GRACE));
        assertThat(entry.nanos()).isGreaterThan(left);
        writer.exit("t1", "write");
        rig.leave();
    }

    /** Threads that wait behind a dead writer, to read or to write, get in when its lease is over. */
    @Test
    void deadWriterBlocksForItsLease() {
        var queue = queue(3, "writer-dies", LEASE, "write", "read", "write");
        Peer reader = queue.first();
        Peer writer = queue.second();
        queue.assertEnters(reader, "writer killed", queue.killHolder(), LEASE.plus(GRACE));
        long left = reader.exit("t1", "read");
        writer.awaitEntry("t1").assertAfter(left, queue.held());
        writer.exit("t1", "write");
        rig.leave();
    }

    /**
     * A dead JVM stands first in the queue, to write; readers behind it get in beside those who read, once it is known
     * to be dead.
     */
    @Test
    @Tag("proof")
    void deadWaitingWriterDoesNotKeepReadersOut() {
        var queue = queue(3, "waiting-writer-dies", LONG_LEASE, "read", "write", "read");
        Peer reader = queue.second();
        assertThat(reader.count("t1 ENTERED")).isZero();
        long killed = Queue.kill(queue.first());
        queue.assertEnters(reader, "waiting writer killed", killed, HEARTBEAT.plus(GRACE));
        queue.holder().ask("t1", "assert-read", "HELD");
        reader.exit("t1", "read");
        queue.leave();
        rig.leave();
    }

    /**
     * The same for a second thread of the JVM that reads, and for one that comes after it, whether that one had to wait
     * or not.
     */
    @Test
    @Tag("proof")
    void deadWaitingWriterDoesNotKeepThreadsOfTheReadingJvmOut() {
        var queue = queue(2, "waiting-writer-dies-2", LONG_LEASE, "read", "write");
        Peer reading = queue.holder();
        reading.tell("t2", "read");
        long killed = Queue.kill(queue.first());
        long reads = reading.awaitEntry("t2").nanos();
        rig.assertTook("waiting writer killed, same JVM", HEARTBEAT.plus(GRACE), killed, reads);
        // Once it is known to be dead, which the second one may not have had to wait for.
        long known = Math.max(Monotonic.nanos(), killed + HEARTBEAT.toNanos());
        rig.assertTook("later", GRACE, known, reading.enter("t3", "read").nanos());
        for (String thread : List.of("t3", "t2", "t1")) {
            reading.ask(thread, "assert-read", "HELD");
            reading.exit(thread, "read");
        }
        rig.leave();
    }

    /** A writer of another JVM has given up: threads of the JVM that reads read beside those who do. */
    @Test
    @Tag("proof")
    void writerThatHasGivenUpDoesNotKeepThreadsOfTheReadingJvmOut() {
        var queue = queue(2, "writer-gives-up", LONG_LEASE, "read");
        Peer reading = queue.holder();
        assertThat(queue.first().ask("t1", "try-write", "TRIED")).isEqualTo("TRIED false");
        long gaveUp = Monotonic.nanos();
        rig.assertTook(
                "writer gave up", GRACE, gaveUp, reading.enter("t2", "read").nanos());
        reading.exit("t2", "read");
        queue.leave();
        rig.leave();
    }

    /**
     * A JVM dies that waits to read, just before its turn: it costs the next one the short lease that it was granted.
     */
    @Test
    @Tag("proof")
    void deadWaitingReaderDelaysAWriterByAShortLease() {
        var queue = queue(3, "waiting-reader-dies", LONG_LEASE, "write", "read", "write");
        queue.first().kill();
        queue.assertEntersLast(queue.second(), "waiting reader killed", queue.leave(), HEARTBEAT.plus(GRACE));
    }
}
