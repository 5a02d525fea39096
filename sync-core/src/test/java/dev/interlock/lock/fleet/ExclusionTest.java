package dev.interlock.lock.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.section.Section;
import dev.interlock.lock.fleet.section.SectionLog;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Many threads of several JVMs: one at a time inside, in the order of the fencing tokens, and nobody starves. */
class ExclusionTest {

    private static final int JVMS = 3;
    private static final int THREADS = 8;
    private static final int RLOCK_THREADS = 1;
    private static final Duration LEASE = Duration.ofSeconds(30);
    private static final long SECTIONS = 100_000;
    private static final int LEAST_PER_THREAD = 20;
    private static final int LEAST_OF_RLOCK = 21;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    ExclusionTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** 100,000 sections of three JVMs never overlap, tokens increase over all of them, every thread progresses. */
    @Test
    void threeJvmsExcludeEachOther() throws IOException {
        String name = keyspace.name("exclusion");
        try (Fleet fleet = Fleet.start(JVMS, index -> interlock(name, index))) {
            hammer(fleet);
            Section.assertExclusiveAndFenced(sections(fleet));
        }
    }

    /** The same next to a JVM that uses a plain RLock of that name, which gets its turns as well. */
    @Test
    @Tag("proof")
    void plainRLockOfTheSameNameIsExcludedAndProgresses() throws IOException {
        hammerNextToPlainRLock(keyspace.name("exclusion-rlock"));
    }

    /** The same, again and again. */
    @Test
    @Tag("soak")
    void soak() throws IOException {
        long start = System.nanoTime();
        long nanos = TimeUnit.SECONDS.toNanos(Long.getLong("interlock.soak.seconds", 120));
        for (int round = 0; System.nanoTime() - start < nanos; round++) {
            hammerNextToPlainRLock(keyspace.name("exclusion-soak-" + round));
        }
    }

    private void hammerNextToPlainRLock(String name) throws IOException {
        try (Fleet fleet = Fleet.start(JVMS + 1, index -> index < JVMS ? interlock(name, index) : rLock(name, index))) {
            hammer(fleet);
            List<Section> sections = sections(fleet);
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
    }

    private static long lastEnter(List<Section> sections, int jvm) {
        return sections.stream()
                .filter(section -> section.jvm() == jvm)
                .mapToLong(Section::enter)
                .max()
                .orElseThrow();
    }

    private ChildJvm.Builder interlock(String name, int index) {
        return Hammer.ofInterlock(keyspace.server().url(), name, THREADS, file(index), LEASE, Duration.ZERO);
    }

    private ChildJvm.Builder rLock(String name, int index) {
        return Hammer.ofRLock(keyspace.server().url(), name, RLOCK_THREADS, file(index));
    }

    private Path file(int index) {
        return folder.resolve("sections-" + index);
    }

    /** Lets the fleet run until it has done enough, and every thread of it has. */
    private void hammer(Fleet fleet) {
        fleet.awaitAll("READY", PATIENCE);
        long start = System.nanoTime();
        fleet.send("go");
        await("progress of every thread")
                .pollInterval(200, TimeUnit.MILLISECONDS)
                .atMost(PATIENCE)
                .untilAsserted(() -> assertProgress(progress(fleet)));
        // All of them once more, so that what was counted was done while all were hammering.
        List<Progress> counted = progress(fleet);
        await("progress of every JVM").atMost(PATIENCE).until(() -> areAllBeyond(progress(fleet), counted));
        fleet.send("stop");
        fleet.awaitAll("STOPPED", PATIENCE);
        for (ChildJvm child : fleet) {
            assertThat(child.waitFor(PATIENCE)).isZero();
            assertThat(child.lines()).as("losses").noneMatch(line -> line.startsWith("LOST"));
        }
        reporter.publishEntry(String.format("ran for %d ms", (System.nanoTime() - start) / 1_000_000));
    }

    /** What a JVM has done: the sections of all its threads, and of the slowest. */
    private record Progress(long all, int slowest) {}

    private static List<Progress> progress(Fleet fleet) {
        fleet.send("progress");
        return fleet.awaitAll("PROGRESS", PATIENCE).stream()
                .map(line -> line.split(" ", 3))
                .map(words -> new Progress(Long.parseLong(words[1]), Integer.parseInt(words[2])))
                .toList();
    }

    private static void assertProgress(List<Progress> progress) {
        for (int i = 0; i < progress.size(); i++) {
            assertThat(progress.get(i).slowest)
                    .as("sections of the slowest thread of JVM %d", i)
                    .isGreaterThanOrEqualTo(i < JVMS ? LEAST_PER_THREAD : LEAST_OF_RLOCK);
        }
        assertThat(progress.stream().mapToLong(Progress::all).sum())
                .as("sections")
                .isGreaterThanOrEqualTo(SECTIONS);
    }

    private static boolean areAllBeyond(List<Progress> now, List<Progress> before) {
        return IntStream.range(0, before.size()).allMatch(i -> now.get(i).all > before.get(i).all);
    }

    private List<Section> sections(Fleet fleet) throws IOException {
        List<Section> sections = new ArrayList<>();
        for (int i = 0; i < fleet.size(); i++) {
            List<Section> ofOne = SectionLog.read(i, file(i), i < JVMS ? THREADS : RLOCK_THREADS);
            reporter.publishEntry(String.format("jvm %d: %d sections", i, ofOne.size()));
            sections.addAll(ofOne);
        }
        return sections;
    }
}
