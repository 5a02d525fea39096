package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a held lock costs in renewals, on a server of its own, since it is the server that counts them. */
@Tag("proof")
class RenewalTrafficTest {

    private static final int CYCLES = 5_000;
    private static final long MOST_RENEWALS = 10;
    private static final Duration WINDOW = Duration.ofSeconds(20);

    private static final RedisServer server = RedisServer.launch();

    @RegisterExtension
    final Rig rig = Rig.in(server);

    @AfterAll
    static void stopServer() {
        server.close();
    }

    /** Locks that are not held any more cost no renewals, and the one that is held keeps its lease. */
    @Test
    void releasedLocksAreNotRenewed() {
        try (Interlock interlock = Interlock.connect(server.url())) {
            String name = rig.name("held");
            DistributedReentrantLock held = interlock.lock(name);
            DistributedReentrantLock cycled = interlock.lock(rig.name("cycled"));
            held.lock();
            try {
                long token = held.fencingToken();
                for (int i = 0; i < CYCLES; i++) {
                    cycled.lock();
                    try {
                        assertThat(cycled.fencingToken()).isPositive();
                    } finally {
                        cycled.unlock();
                    }
                }
                long before = scripts();
                await("20 s of quiet")
                        .pollDelay(WINDOW)
                        .atMost(WINDOW.multipliedBy(2))
                        .until(() -> true);
                long renewals = scripts() - before;
                rig.report(String.format("%d scripts in %s after %d cycles", renewals, WINDOW, CYCLES));
                assertThat(renewals).isBetween(1L, MOST_RENEWALS);
                assertThat(rig.keyspace().ownedMillis(name))
                        .isGreaterThan(Duration.ofSeconds(15).toMillis());
                held.assertHeld();
                assertThat(held.fencingToken()).isEqualTo(token);
            } finally {
                held.unlock();
            }
        }
    }

    private static long scripts() {
        return server.commandCalls("evalsha") + server.commandCalls("eval");
    }
}
