package dev.interlock.lock.fleet;

import static dev.interlock.testing.rig.Peer.ANSWER;
import static dev.interlock.testing.rig.Rig.GRACE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Peer.Entry;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A JVM that is stopped past its lease while it holds a lock, and wakes up as a stale holder. */
@Timely
@Tag("proof")
class PausedHolderTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /**
     * Whatever the stale holder does first after it wakes, it is told of the loss; its listeners hear of it once; the
     * thread that was queued behind it doesn't enter on the old tenure, but after the other JVM, with a larger token.
     */
    @ParameterizedTest
    @ValueSource(strings = {"assert", "token", "leave-lock"})
    void staleHolderIsToldAndHandsNothingOn(String firstAct) {
        var queue = rig.queue(2, new LockSubject(), "paused-holder", LEASE, "plain", "lock");
        Peer paused = queue.holder();
        Peer other = queue.first();
        LockSubject.queueLocally(paused, "t2");
        other.queue("t1", "lock", 0);
        long stopped = queue.stopHolder();
        Entry fresh = queue.assertEnters(other, "stopped holder to next entry", stopped, LEASE.plus(GRACE));

        assertHolderIsTold(paused, firstAct);

        paused.awaitWaiting(1); // the queued thread's own place in Redis
        assertThat(paused.count("t2 ENTERED")).isZero();
        other.ask("t1", "assert", "HELD");
        long left = other.exit("t1", "lock");
        Entry queued = paused.awaitEntry("t2");
        queued.assertAfter(left, fresh);
        paused.ask("t2", "assert", "HELD");
        paused.exit("t2", "lock");

        await("the listeners")
                .atMost(ANSWER)
                .until(() -> paused.count("LOST session") + paused.count("LOST lock") >= 2);
        assertWorksNormally(paused, other, queued);
        String token = " " + queue.held().token() + " ";
        assertThat(paused.count("LOST session" + token)).isEqualTo(1);
        assertThat(paused.count("LOST lock" + token)).isEqualTo(1);
        assertThat(paused.count("LOST")).isEqualTo(2);
        assertThat(other.count("LOST")).isZero();
        rig.leave();
    }

    private static void assertHolderIsTold(Peer paused, String firstAct) {
        // Told while it is stopped, so that it's the first that the thread does on waking.
        paused.tell("t1", firstAct);
        paused.cont();
        paused.assertLost("t1", firstAct);
        if (!firstAct.equals("leave-lock")) {
            for (String act : List.of("assert", "token", "leave-lock")) {
                assertThat(paused.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS true 1");
                paused.tell("t1", act);
                paused.assertLost("t1", act);
            }
        }
        assertThat(paused.ask("t1", "holds", "HOLDS")).isEqualTo("HOLDS false 0");
        paused.tell("t1", "leave-lock");
        paused.assertThrew("t1", "leave-lock", "IllegalMonitorStateException");
    }

    private static void assertWorksNormally(Peer paused, Peer other, Entry last) {
        long token = last.token();
        for (int i = 0; i < 3; i++) {
            for (Peer peer : List.of(paused, other, paused)) {
                Entry entry = peer.enter("t1", "lock");
                assertThat(entry.token()).isGreaterThan(token);
                token = entry.token();
                peer.ask("t1", "assert", "HELD");
                peer.exit("t1", "lock");
            }
        }
    }
}
