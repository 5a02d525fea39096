package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.section.Section;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Hammers.Progress;
import dev.interlock.testing.rig.Rig;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Many threads of several JVMs: one at a time inside, in the order of the fencing tokens, and nobody starves. */
class ExclusionTest {

    private static final int JVMS = 3;
    private static final int THREADS = 8;
    private static final int RLOCK_THREADS = 1;
    private static final long SECTIONS = 100_000;
    private static final int LEAST_PER_THREAD = 20;
    private static final int LEAST_OF_RLOCK = 21;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

    /**
     * 100,000 sections of three JVMs and of one that uses a plain RLock of that name never overlap, tokens increase
     * over all of them, and every thread progresses.
     */
    @Test
    @Tag("proof")
    void plainRLockOfTheSameNameIsExcludedAndProgresses() throws IOException {
        hammerNextToPlainRLock(rig.name("exclusion-rlock"));
    }

    /** The same, again and again. */
    @Test
    @Tag("soak")
    void soak() throws IOException {
        Rig.soak(round -> hammerNextToPlainRLock(rig.name("exclusion-soak-" + round)));
    }

    private void hammerNextToPlainRLock(String name) throws IOException {
        List<Task> tasks = new ArrayList<>(tasks(name));
        tasks.add(Task.of(RLockWork.class, rig.url(), name, RLOCK_THREADS, file(JVMS)));
        List<Section> sections = hammer(tasks);
        Section.assertExclusiveAndFenced(sections);
        long hammeredUntil = IntStream.range(0, JVMS)
                .mapToLong(jvm -> lastEnter(sections, jvm))
                .min()
                .orElseThrow();
        assertThat(sections.stream().filter(section -> section.jvm() == JVMS && section.exit() < hammeredUntil))
                .as("sections of the plain RLock while all others hammer")
                .hasSizeGreaterThanOrEqualTo(LEAST_OF_RLOCK)
                .allMatch(section -> section.token() == Section.NO_TOKEN);
    }

    private static long lastEnter(List<Section> sections, int jvm) {
        return sections.stream()
                .filter(section -> section.jvm() == jvm)
                .mapToLong(Section::enter)
                .max()
                .orElseThrow();
    }

    private List<Task> tasks(String name) {
        return IntStream.range(0, JVMS)
                .mapToObj(jvm -> Task.of(LockWork.class, rig.url(), name, THREADS, file(jvm)))
                .toList();
    }

    private Path file(int index) {
        return folder.resolve("sections-" + index);
    }

    /** Has JVMs run until they have done enough, and every thread of them has; returns what they have done. */
    private List<Section> hammer(List<Task> tasks) throws IOException {
        try (var hammers = Hammers.start(Section.LOG, tasks)) {
            long start = System.nanoTime();
            hammers.go();
            await("progress of every thread")
                    .pollInterval(200, TimeUnit.MILLISECONDS)
                    .atMost(PATIENCE)
                    .untilAsserted(() -> assertProgress(hammers.progress()));
            // All of them once more, so that what was counted was done while all were hammering.
            hammers.awaitProgress("all together", PATIENCE);
            hammers.stop();
            List<Section> sections = hammers.records();
            rig.report(sections.size() + " sections", start, System.nanoTime());
            return sections;
        }
    }

    private static void assertProgress(List<Progress> progress) {
        for (int i = 0; i < progress.size(); i++) {
            assertThat(progress.get(i).slowest())
                    .as("sections of the slowest thread of JVM %d", i)
                    .isGreaterThanOrEqualTo(i < JVMS ? LEAST_PER_THREAD : LEAST_OF_RLOCK);
        }
        assertThat(progress.stream().mapToLong(Progress::all).sum())
                .as("sections")
                .isGreaterThanOrEqualTo(SECTIONS);
    }
}
