package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.rig.Rig.GRACE;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Queue;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die by {@code kill -9} while they read, write, or wait for that. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class ReadWriteDeathTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** As {@link ReadWriteSubject} takes it. */
    private Queue queue(int count, String what, Duration lease, String... sections) {
        return rig.queue(count, new ReadWriteSubject(), what, lease, "plain", sections);
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
}
