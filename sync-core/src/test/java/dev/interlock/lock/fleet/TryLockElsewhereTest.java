package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.Recorder;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Peer;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** One JVM uses a lock, sends word of its last unlock() by another way than Redis, and another JVM tries the lock. */
class TryLockElsewhereTest {
    private static final int TRIES = 10_000;

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** Whether the name is kept or on its way back; and each refusal is told. */
    @Test
    @Tag("proof")
    void itIsRefusedOnlyIfTheOwnerIsSilent() {
        String name = rig.name("elsewhere");
        Peer owner = rig.start(1, new LockSubject(), name, Duration.ofSeconds(30), "plain")
                .get(0);
        Recorder recorder = new Recorder();
        int refused = 0;
        try (Interlock session =
                Interlock.builder().uri(rig.url()).listener(recorder).open()) {
            DistributedReentrantLock lock = session.lock(name);
            for (int i = 0; i < TRIES; i++) {
                // After the first in a row the name is released, after the last it is kept.
                owner.ask("t1", "use " + (1 + i % 5), "USED");
                if (lock.tryLock()) {
                    lock.unlock();
                } else {
                    refused++;
                }
            }
            int unanswered = refused;
            rig.report(refused + " of " + TRIES + " refused");
            await("told of each")
                    .atMost(Duration.ofSeconds(30))
                    .until(() -> recorder.count(Recorder.Kind.UNANSWERED) == unanswered);
        }
        assertThat(refused).isLessThan(TRIES / 10);
        rig.leave();
    }
}
