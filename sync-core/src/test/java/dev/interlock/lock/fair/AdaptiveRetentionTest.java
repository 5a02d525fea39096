package dev.interlock.lock.fair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.internal.redis.RedisMonitor;
import dev.interlock.lock.faults.FaultFixture;
import dev.interlock.testing.Actor;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.redisson.api.RLock;

/** A lock whose name its session keeps for a moment, since its threads take it again and again. */
@Tag("proof")
class AdaptiveRetentionTest extends FaultFixture {
    private static final String NAME = "counter";
    private static final int PAIRS = 2_000;

    /** Enough in a row for the session to keep the name. */
    private static final int USES = 5;

    private final TestReporter reporter;

    AdaptiveRetentionTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    private static void use(DistributedReentrantLock lock, int times) {
        for (int i = 0; i < times; i++) {
            lock.lock();
            lock.unlock();
        }
    }

    /** The release of the last use may come later. */
    private long scriptsOf(DistributedReentrantLock lock) throws IOException {
        try (var monitor = new RedisMonitor(server())) {
            use(lock, PAIRS);
            long scripts = monitor.commands().stream()
                    .filter(command -> command.isScriptOn(NAME))
                    .count();
            reporter.publishEntry(scripts + " scripts in " + PAIRS + " uses");
            return scripts;
        }
    }

    @Test
    void usesCostAlmostNoRoundTrip() throws IOException {
        assertThat(scriptsOf(lock(session(), NAME))).isLessThan(PAIRS / 2);
        awaitFree(NAME);
    }

    @Test
    void aLockThatIsReleasedAtOnceCostsTwoEach() throws IOException {
        DistributedReentrantLock lock = free(session().lock(NAME, LockOptions.releaseAtOnce()));
        assertThat(scriptsOf(lock)).isGreaterThanOrEqualTo(2 * PAIRS - 1);
        awaitFree(NAME);
    }

    @Test
    void aSessionThatKeepsNothingAdaptivelyCostsTwoEach() throws IOException {
        Interlock session = session(builder -> builder.adaptiveRetention(false));
        assertThat(scriptsOf(lock(session, NAME))).isGreaterThanOrEqualTo(2 * PAIRS - 1);
        awaitFree(NAME);
    }

    /** A session keeps no name that a plain RLock client has used lately, since that client can't ask for it. */
    @Test
    void nothingIsKeptNextToPlainRLocks() {
        DistributedReentrantLock lock = lock(session(), NAME);
        RLock plain = client(server().url()).getLock(NAME);
        Actor other = actor("plain");
        Actor mine = actor("mine");
        other.run(plain::lock);
        var entered = mine.begin(lock::lock);
        await("seen")
                .until(() -> String.valueOf(
                                server().command("PUBSUB", "NUMSUB", "redisson_lock__channel:{" + NAME + "}"))
                        .endsWith("1]"));
        other.run(plain::unlock);
        assertThat(entered).succeedsWithin(PATIENCE);
        mine.run(lock::unlock);
        for (int round = 0; round < 20; round++) {
            mine.run(() -> use(lock, USES));
            assertThat(other.<Boolean>get(plain::tryLock)).isTrue();
            other.run(plain::unlock);
        }
    }
}
