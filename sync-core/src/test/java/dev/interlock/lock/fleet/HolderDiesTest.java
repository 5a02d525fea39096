package dev.interlock.lock.fleet;

import static dev.interlock.testing.rig.Rig.GRACE;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Peer.Entry;
import dev.interlock.testing.rig.Queue;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die by {@code kill -9} while they hold a lock or wait for it. */
@Timely
class HolderDiesTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** A holder and two that wait. */
    private Queue queue(String what, Duration lease) {
        return rig.queue(3, new LockSubject(), what, lease, "plain", "lock", "lock", "lock");
    }

    /** The next waiter of a dead holder enters within the lease and 2 s, with a larger token. */
    @Test
    void nextWaiterEntersWhenTheLeaseOfADeadHolderIsOver() {
        var queue = queue("holder-dies", LEASE);
        Peer next = queue.first();
        Peer last = queue.second();
        long killed = queue.killHolder();

        Entry first = queue.assertEnters(next, "killed holder to next entry", killed, LEASE.plus(GRACE));
        long left = next.exit("t1", "lock");
        last.awaitEntry("t1").assertAfter(left, first);
        last.exit("t1", "lock");
        rig.leave();
    }
}
