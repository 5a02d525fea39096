package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.section.Section;
import dev.interlock.lock.fleet.section.SectionLog;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
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

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    private final List<ChildJvm> alive = new ArrayList<>();
    private int started;

    ChaosTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @AfterEach
    void close() {
        alive.forEach(ChildJvm::close);
    }

    /**
     * Whatever happens to JVMs, at whatever moment: sections whose owner was still the owner at their end don't
     * overlap, tokens increase, and the others soon go on.
     */
    @Test
    @Tag("soak")
    void killedAndStoppedJvmsNeitherBreakExclusionNorStopTheOthers() throws IOException {
        String name = keyspace.name("chaos");
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
            ChildJvm victim = alive.get(random.nextInt(JVMS));
            pause(random.nextInt(500));
            int fate = random.nextInt(8);
            if (fate == 0 || progress(victim) > MOST_SECTIONS) {
                ends++;
                alive.remove(victim);
                end(victim);
                start(name);
            } else if (fate < 3) {
                kills++;
                alive.remove(victim);
                victim.kill();
                awaitProgress(seed);
                start(name);
            } else {
                stops++;
                victim.stop();
                pause(random.nextInt(2 * (int) LEASE.toMillis()));
                victim.cont();
            }
            awaitProgress(seed);
        }
        alive.forEach(ChaosTest::end);
        List<Section> sections = new ArrayList<>();
        for (int i = 0; i < started; i++) {
            sections.addAll(SectionLog.read(i, file(i), THREADS));
        }
        reporter.publishEntry(String.format(
                "%d sections, %d kills, %d stops, %d orderly ends, seed %d",
                sections.size(), kills, stops, ends, seed));
        Section.assertExclusiveAndFenced(sections);
        assertThat(keyspace.waiting(name)).isZero();
    }

    private void start(String name) {
        ChildJvm child = Hammer.ofInterlock(keyspace.server().url(), name, THREADS, file(started++), LEASE, REST)
                .start();
        alive.add(child);
        child.await("READY", PATIENCE);
        child.send("go");
    }

    private Path file(int index) {
        return folder.resolve("sections-" + index);
    }

    private static void pause(int millis) {
        await("a random moment").pollDelay(Duration.ofMillis(millis)).until(() -> true);
    }

    private static void end(ChildJvm child) {
        child.send("stop");
        child.await("STOPPED", PATIENCE);
        assertThat(child.waitFor(PATIENCE)).isZero();
    }

    /** Waits until each JVM has been inside again. */
    private void awaitProgress(long seed) {
        for (ChildJvm child : alive) {
            long before = progress(child);
            try {
                await("progress of " + child + ", seed " + seed)
                        .atMost(RECOVERY)
                        .until(() -> progress(child) > before);
            } catch (ConditionTimeoutException e) {
                alive.forEach(each -> each.send("dump"));
                alive.forEach(each -> each.await("DUMPED", PATIENCE));
                String dump = alive.stream()
                        .map(each -> each + ":\n" + String.join("\n", each.lines()))
                        .collect(Collectors.joining("\n"));
                throw new AssertionError(dump, e);
            }
        }
    }

    private static long progress(ChildJvm child) {
        child.send("progress");
        return Long.parseLong(child.await("PROGRESS", PATIENCE).split(" ", 3)[1]);
    }
}
