package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Rig;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a session does when its JVM ends. */
class EndOfJvmTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LEASE = Duration.ofSeconds(5);
    private static final int TERMINATED = 128 + 15;

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    /** SIGTERM in the middle of a section that goes on for longer than a lease. */
    @Test
    @Tag("proof")
    void aShutdownHookLetsTheSectionEnd() throws InterruptedException {
        String name = rig.name("section");
        try (ChildJvm child = ChildJvm.start(Ending.class, rig.url(), name, Long.toString(LEASE.toMillis()));
                Interlock session = Interlock.connect(rig.url())) {
            DistributedReentrantLock lock = session.lock(name);
            child.await("ENTERED", PATIENCE);
            child.terminate();
            child.await("CLOSING", PATIENCE);
            long begun = Monotonic.nanos();
            Duration longer = LEASE.plusSeconds(1);
            await("more than a lease")
                    .atMost(PATIENCE)
                    .until(() -> Monotonic.nanos() - begun > longer.toNanos() || lock.tryLock());
            assertThat(lock.isHeldByCurrentThread()).isFalse();
            assertThat(child.isAlive()).isTrue();
            child.send("leave");
            child.await("LEFT", PATIENCE);
            assertThat(lock.tryLock(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            lock.unlock();
            child.await("CLOSED", PATIENCE);
            assertThat(child.waitFor(PATIENCE)).isEqualTo(TERMINATED);
            assertThat(child.lines()).noneMatch(line -> line.startsWith("LOST"));
        }
    }

    /** Redisson's own threads do, which a Config can't change; a session over a client that is shut down doesn't. */
    @Test
    void noThreadOfAForgottenSessionKeepsTheJvmAlive() {
        try (ChildJvm child = ChildJvm.start(Forgetful.class, rig.url())) {
            String lasting = child.await("LASTING ", PATIENCE).substring("LASTING ".length());
            assertThat(lasting.split(", ")).allMatch(thread -> thread.startsWith("redisson-"));
            child.send("shut down");
            assertThat(child.waitFor(PATIENCE)).isZero();
        }
    }
}
