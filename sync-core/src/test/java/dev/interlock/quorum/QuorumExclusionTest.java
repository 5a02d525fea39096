package dev.interlock.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.section.Section;
import dev.interlock.lock.fleet.section.SectionLog;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads of three JVMs over three nodes, each of which keeps its data: one at a time inside, in the order of the
 * fencing tokens.
 */
class QuorumExclusionTest {
    private static final int JVMS = 3;
    private static final int THREADS = 3;
    private static final int LEAST_PER_THREAD = 50;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    /** While a node is killed and comes back, twice, and another one is stopped for a while. */
    @Test
    @Timeout(240)
    void exclusionHoldsWhileANodeIsKilledAndComesBack(TestReporter reporter) throws IOException {
        try (Nodes nodes = Nodes.launch(3, "--appendonly", "yes", "--appendfsync", "always");
                Fleet fleet =
                        Fleet.start(JVMS, index -> QuorumHammer.of(nodes.urls(), "hammered", THREADS, file(index)))) {
            fleet.awaitAll("READY", PATIENCE);
            fleet.send("go");
            awaitProgress(fleet, LEAST_PER_THREAD);
            for (int index : List.of(1, 0)) {
                nodes.node(index).kill();
                awaitProgress(fleet, LEAST_PER_THREAD);
                nodes.node(index).restart();
                awaitProgress(fleet, LEAST_PER_THREAD);
            }
            nodes.node(2).pause();
            awaitProgress(fleet, LEAST_PER_THREAD);
            nodes.node(2).resume();
            awaitProgress(fleet, LEAST_PER_THREAD);
            fleet.send("stop");
            fleet.awaitAll("STOPPED", PATIENCE);
            List<Section> sections = new ArrayList<>();
            int index = 0;
            for (ChildJvm child : fleet) {
                assertThat(child.waitFor(PATIENCE)).isZero();
                assertThat(child.lines()).as("losses").noneMatch(line -> line.startsWith("LOST"));
                List<Section> ofOne = SectionLog.read(index, file(index), THREADS);
                reporter.publishEntry("jvm " + index + ": " + ofOne.size() + " sections");
                sections.addAll(ofOne);
                index++;
            }
            Section.assertExclusiveAndFenced(sections);
        }
    }

    private Path file(int index) {
        return folder.resolve("sections-" + index);
    }

    /** Returns when every thread has been through so many sections more. */
    private static void awaitProgress(Fleet fleet, long sections) {
        List<Long> before = progress(fleet);
        await("progress of every thread")
                .pollInterval(100, TimeUnit.MILLISECONDS)
                .atMost(PATIENCE)
                .untilAsserted(() -> {
                    List<Long> now = progress(fleet);
                    for (int i = 0; i < now.size(); i++) {
                        assertThat(now.get(i)).as("JVM %d", i).isGreaterThanOrEqualTo(before.get(i) + sections);
                    }
                });
    }

    private static List<Long> progress(Fleet fleet) {
        fleet.send("progress");
        return fleet.awaitAll("PROGRESS", PATIENCE).stream()
                .map(line -> Long.parseLong(line.split(" ", 2)[1]))
                .toList();
    }
}
