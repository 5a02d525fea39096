package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.section.Section;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Rig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A fleet whose JVMs are killed and stopped at random moments, and replaced. */
class ChaosTest {

    private static final int JVMS = 3;
    private static final int THREADS = 4;
    private static final Duration LEASE = Duration.ofSeconds(1);

    private static final Duration REST = Duration.ofMillis(1);

    /** What fits into the file of one JVM, by far. */
    private static final long MOST_SECTIONS = 100_000;

    /** A lease, a heartbeat, and time for a busy machine. */
    private static final Duration RECOVERY = Duration.ofSeconds(10);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

    private final Hammers<Section> hammers = new Hammers<>(Section.LOG);

    @AfterEach
    void close() {
        hammers.close();
    }

    /**
     * Whatever happens to JVMs, at whatever moment: sections whose owner was still the owner at their end don't
     * overlap, tokens increase, and the others soon go on.
     */
    @Test
    @Tag("soak")
    void killedAndStoppedJvmsNeitherBreakExclusionNorStopTheOthers() throws IOException {
        String name = rig.name("chaos");
        long seed = System.nanoTime();
        var random = new Random(seed);
        for (int i = 0; i < JVMS; i++) {
            start(name);
        }
        long start = System.nanoTime();
        long nanos = TimeUnit.SECONDS.toNanos(Long.getLong("interlock.soak.seconds", 120));
        int kills = 0;
        int stops = 0;
        int ends = 0;
        while (System.nanoTime() - start < nanos) {
            ChildJvm victim = hammers.running().get(random.nextInt(JVMS));
            pause(random.nextInt(500));
            int fate = random.nextInt(8);
            if (fate == 0 || Hammers.progress(victim).all() > MOST_SECTIONS) {
                ends++;
                hammers.end(victim);
                start(name);
            } else if (fate < 3) {
                kills++;
                hammers.kill(victim);
                hammers.awaitProgress("seed " + seed, RECOVERY);
                start(name);
            } else {
                stops++;
                stopFor(random.nextInt(2 * (int) LEASE.toMillis()), victim);
            }
            hammers.awaitProgress("seed " + seed, RECOVERY);
        }
        hammers.running().forEach(hammers::end);
        List<Section> sections = hammers.records();
        rig.report(String.format(
                "%d sections, %d kills, %d stops, %d orderly ends, seed %d",
                sections.size(), kills, stops, ends, seed));
        Section.assertExclusiveAndFenced(sections);
        assertThat(rig.keyspace().waiting(name)).isZero();
    }

    private void start(String name) {
        var file = folder.resolve("sections-" + hammers.size());
        hammers.start(LockWork.task(rig.url(), name, THREADS, file, LEASE, REST));
    }

    private static void stopFor(int millis, ChildJvm victim) {
        victim.stop();
        pause(millis);
        victim.cont();
    }

    private static void pause(int millis) {
        await("a random moment").pollDelay(Duration.ofMillis(millis)).until(() -> true);
    }
}
