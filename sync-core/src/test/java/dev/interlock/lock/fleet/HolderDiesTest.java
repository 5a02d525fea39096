package dev.interlock.lock.fleet;

import static dev.interlock.testing.rig.Rig.GRACE;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Peer.Entry;
import dev.interlock.testing.rig.Queue;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die by {@code kill -9} while they hold a lock or wait for it. */
@Timely
class HolderDiesTest {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration LONG_LEASE = Duration.ofSeconds(30);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** A holder and two that wait. */
    private Queue queue(String what, Duration lease) {
        return rig.queue(3, new LockSubject(), what, lease, "plain", "lock", "lock", "lock");
    }

    /** A holder, and one that doesn't wait yet. */
    private Queue held(String what) {
        return rig.queue(2, new LockSubject(), what, LEASE, "plain", "lock");
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

    /** A dead holder whose local threads were queued behind it takes them along; the other JVM's waiter enters. */
    @Test
    @Tag("proof")
    void localWaitersOfADeadHolderDelayNobody() {
        var queue = held("holder-dies-with-waiters");
        Peer next = queue.first();
        LockSubject.queueLocally(queue.holder(), "t2");
        next.queue("t1", "lock", 0);
        long killed = queue.killHolder();
        queue.assertEntersLast(next, "killed with waiters", killed, LEASE.plus(GRACE));
    }

    /** Nobody waited when the holder died: a later thread waits for the rest of the lease, and not longer. */
    @Test
    @Tag("proof")
    void lateComerEntersWhenTheLeaseOfADeadHolderIsOver() {
        var queue = held("late-comer");
        Peer next = queue.first();
        long killed = queue.killHolder();
        next.tell("t1", "lock");
        queue.assertEntersLast(next, "killed before anybody waited", killed, LEASE.plus(GRACE));
    }

    /** A waiter that has been dead for longer than its heartbeat is passed over at once, whatever the lease. */
    @Test
    @Tag("proof")
    void deadWaiterIsSkipped() {
        var queue = queue("waiter-dies", LONG_LEASE);
        Peer dead = queue.first();
        dead.kill();
        rig.awaitOverdue(queue.name(), dead);
        queue.assertEntersLast(queue.second(), "dead waiter skipped", queue.leave(), Duration.ofSeconds(1));
    }

    /** A waiter that dies just before its turn is granted the lock: it delays the next one by the lease it got. */
    @Test
    @Tag("proof")
    void waiterThatDiesJustBeforeItsTurnDelaysTheNextByItsLease() {
        var queue = queue("waiter-dies-late", LEASE);
        queue.first().kill();
        queue.assertEntersLast(queue.second(), "waiter killed just before its turn", queue.leave(), LEASE.plus(GRACE));
    }
}
