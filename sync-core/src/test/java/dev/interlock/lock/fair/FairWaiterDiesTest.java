package dev.interlock.lock.fair;

import static dev.interlock.testing.rig.Rig.GRACE;
import static dev.interlock.testing.rig.Rig.HEARTBEAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.LockSubject;
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
import org.junit.jupiter.api.extension.RegisterExtension;

/** JVMs that die or stop while their threads wait for a fair lock, or while they retain one. */
@Timely
@Tag("proof")
class FairWaiterDiesTest {

    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final Duration SHORT_LEASE = Duration.ofSeconds(2);
    private static final Duration SLACK = Duration.ofSeconds(1);

    /** Threads of one JVM that come within 10 ms of each other may change places. */
    private static final Duration APART = Duration.ofMillis(20);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** A holder, a JVM of which several threads wait, and one more that waits behind them. */
    private Queue queue(String what, List<String> threads) {
        var queue = rig.queue(3, new LockSubject(), what, LEASE, "fair", "lock");
        for (int i = 0; i < threads.size(); i++) {
            queue.first().queue(threads.get(i), "lock", i);
            await().pollDelay(APART).until(() -> true);
        }
        queue.second().queue("t1", "lock", threads.size());
        return queue;
    }

    /**
     * Two threads of a JVM that has just been killed are granted the lock as one run: that costs its first short lease.
     */
    @Test
    void waitersThatDieJustBeforeTheirTurnDelayTheNextByAShortLease() {
        var queue = queue("fair-waiter-dies", List.of("t1", "t2"));
        queue.first().kill();
        Duration bound = HEARTBEAT.plus(GRACE).plus(SLACK);
        queue.assertEntersLast(queue.second(), "killed just before its turn", queue.leave(), bound);
    }

    /**
     * A JVM that is stopped for longer than its heartbeat is passed over; its threads have their turn when it goes on.
     */
    @Test
    void threadsOfAStoppedJvmHaveTheirTurnLater() {
        List<String> threads = List.of("t1", "t2", "t3");
        var queue = queue("fair-waiter-stopped", threads);
        Peer stopped = queue.first();
        Peer next = queue.second();
        stopped.stop();
        rig.awaitOverdue(queue.name(), stopped);
        Entry entered = queue.assertEnters(next, "past a stopped JVM", queue.leave(), SLACK);
        stopped.cont();
        stopped.awaitWaiting(threads.size()); // places taken anew
        next.exit("t1", "lock");
        long token = entered.token();
        for (String thread : threads) {
            Entry late = stopped.awaitEntry(thread);
            assertThat(late.token()).isGreaterThan(token);
            token = late.token();
            stopped.exit(thread, "lock");
        }
        rig.leave();
    }

    /** A lock that is retained by a JVM which is killed is free when its lease is over, which nobody renews. */
    @Test
    void aLockThatADeadJvmRetainsIsFreedByItsLease() {
        var queue = rig.queue(2, new LockSubject(), "retainer-dies", SHORT_LEASE, "60000", "lock");
        Peer next = queue.first();
        queue.leave();
        assertThat(rig.keyspace().ownedMillis(queue.name())).as("retained").isPositive();
        long killed = queue.killHolder();
        next.tell("t1", "lock");
        queue.assertEntersLast(next, "retainer killed", killed, SHORT_LEASE.plus(GRACE));
    }
}
