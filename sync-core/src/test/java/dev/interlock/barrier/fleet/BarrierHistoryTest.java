package dev.interlock.barrier.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Many generations of several JVMs, none of which mixes with the next. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BarrierHistoryTest {
    private static final int JVMS = 3;
    private static final int THREADS = 4;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    BarrierHistoryTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    @Test
    void generationsDoNotMix() throws IOException {
        run(200);
    }

    @Test
    @Tag("proof")
    void aThousandGenerationsDoNotMix() throws IOException {
        run(1_000);
    }

    @Test
    @Tag("soak")
    void soak() throws IOException {
        run(Math.toIntExact(100 * Long.getLong("interlock.soak.seconds", 120)));
    }

    private void run(int generations) throws IOException {
        String name = keyspace.name("history");
        int parties = JVMS * THREADS;
        List<Visit> history = new ArrayList<>();
        try (Fleet fleet = Fleet.start(
                JVMS,
                jvm -> ChildJvm.of(BarrierHammer.class)
                        .options("-XX:TieredStopAtLevel=1")
                        .arguments(
                                keyspace.server().url(),
                                name,
                                Integer.toString(parties),
                                Integer.toString(THREADS),
                                Integer.toString(generations),
                                folder.resolve("visits-" + jvm).toString()))) {
            fleet.awaitAll("READY", PATIENCE);
            long begun = System.nanoTime();
            fleet.send("go");
            fleet.awaitAll("DONE", PATIENCE);
            long millis = (System.nanoTime() - begun) / 1_000_000;
            reporter.publishEntry(generations + " generations of " + parties + " threads in " + millis + " ms");
            fleet.send("stop");
            fleet.awaitAll("STOPPED", PATIENCE);
            for (ChildJvm child : fleet) {
                assertThat(child.waitFor(PATIENCE)).isZero();
            }
        }
        for (int jvm = 0; jvm < JVMS; jvm++) {
            Files.readAllLines(folder.resolve("visits-" + jvm)).stream()
                    .map(Visit::parse)
                    .forEach(history::add);
        }
        Visit.assertGenerationsDoNotMix(history, parties, generations);
    }
}
