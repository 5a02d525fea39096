package dev.interlock.quorum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.lock.fleet.section.Section;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Hammers.Progress;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Threads of three JVMs over three nodes, each of which keeps its data: one at a time inside, in the order of the
 * fencing tokens.
 */
@Tag("proof")
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
                var hammers = Hammers.start(Section.LOG, tasks(nodes))) {
            hammers.go();
            awaitProgress(hammers);
            for (int index : List.of(1, 0)) {
                nodes.node(index).kill();
                awaitProgress(hammers);
                nodes.node(index).restart();
                awaitProgress(hammers);
            }
            nodes.node(2).pause();
            awaitProgress(hammers);
            nodes.node(2).resume();
            awaitProgress(hammers);
            hammers.stop();
            List<Section> sections = hammers.records();
            reporter.publishEntry(sections.size() + " sections");
            Section.assertExclusiveAndFenced(sections);
        }
    }

    private List<Task> tasks(Nodes nodes) {
        String urls = String.join(",", nodes.urls());
        return IntStream.range(0, JVMS)
                .mapToObj(index -> folder.resolve("sections-" + index))
                .map(file -> Task.of(QuorumWork.class, urls, "hammered", THREADS, file))
                .toList();
    }

    /** Returns when every thread has been through so many sections more. */
    private static void awaitProgress(Hammers<Section> hammers) {
        List<Progress> before = hammers.progress();
        await("progress of every thread")
                .pollInterval(100, TimeUnit.MILLISECONDS)
                .atMost(PATIENCE)
                .untilAsserted(() -> {
                    List<Progress> now = hammers.progress();
                    for (int i = 0; i < now.size(); i++) {
                        assertThat(now.get(i).slowest())
                                .as("JVM %d", i)
                                .isGreaterThanOrEqualTo(before.get(i).slowest() + LEAST_PER_THREAD);
                    }
                });
    }
}
