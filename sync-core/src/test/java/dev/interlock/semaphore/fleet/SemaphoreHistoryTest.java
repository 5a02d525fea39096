package dev.interlock.semaphore.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.semaphore.fleet.SemaphoreHammer.Task;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many threads of several JVMs share a few permits, and want different numbers of them. */
@Timeout(value = 150, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class SemaphoreHistoryTest {

    private static final int JVMS = 4;
    private static final int THREADS = 8;
    private static final int PERMITS = 5;
    private static final int LEAST_SOAKED_STAYS = 50_000;
    private static final long STAYS_PER_SECOND_OF_SOAK = 500;

    /**
     * No wait may take longer. What a request waits for is the turns of some thirty others; most of it is scheduling.
     */
    private static final Duration BOUND = Duration.ofSeconds(10);

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    SemaphoreHistoryTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /**
     * Never are more permits in use than there are, nobody starves whatever he wants, and all permits are there at the
     * end.
     */
    @Test
    void permitsInUseAreNeverMoreThanThereAre() throws IOException {
        mix(Kind.PLAIN, 3_000);
    }

    /** The same for longer. */
    @ParameterizedTest
    @EnumSource
    @Tag("soak")
    void soak(Kind kind) throws IOException {
        long stays = STAYS_PER_SECOND_OF_SOAK * Long.getLong("interlock.soak.seconds", 120);
        mix(kind, Math.toIntExact(kind == Kind.PLAIN ? Math.max(LEAST_SOAKED_STAYS, stays) : stays));
    }

    private void mix(Kind kind, int stays) throws IOException {
        int each = (stays + JVMS * THREADS - 1) / (JVMS * THREADS);
        String name = keyspace.name("history-" + kind);
        try (Interlock interlock = Interlock.connect(keyspace.server().url())) {
            var semaphore = kind.of(interlock, name, PERMITS);
            List<Stay> history = run(kind, name, each);
            assertThat(history).hasSize(each * JVMS * THREADS);
            int most = Stay.assertNeverMoreThan(PERMITS, history);
            assertThat(most).as("most in use").isEqualTo(PERMITS);
            long longest = history.stream().mapToLong(Stay::waited).max().orElseThrow();
            assertWithin("the longest wait", BOUND, Duration.ofNanos(longest));
            assertThat(semaphore.availablePermits()).isEqualTo(PERMITS);
            assertThat(semaphore.drainPermits()).isEqualTo(PERMITS);
            semaphore.release(PERMITS);
        }
    }

    private List<Stay> run(Kind kind, String name, int each) throws IOException {
        String url = keyspace.server().url();
        List<Task> tasks = new ArrayList<>();
        for (int jvm = 0; jvm < JVMS; jvm++) {
            tasks.add(new Task(kind, PERMITS, THREADS, each, folder.resolve("stays-" + jvm)));
        }
        try (Fleet fleet = Fleet.start(JVMS, jvm -> SemaphoreHammer.of(url, name, tasks.get(jvm)))) {
            fleet.awaitAll("READY", PATIENCE);
            long start = System.nanoTime();
            fleet.send("go");
            awaitDone(fleet);
            long ran = System.nanoTime() - start;
            fleet.send("stop");
            fleet.awaitAll("STOPPED", PATIENCE);
            List<Stay> stays = new ArrayList<>();
            for (int jvm = 0; jvm < JVMS; jvm++) {
                assertThat(fleet.get(jvm).waitFor(PATIENCE)).isZero();
                assertThat(fleet.get(jvm).lines()).noneMatch(line -> line.startsWith("LOST"));
                stays.addAll(StayLog.read(jvm, tasks.get(jvm).file(), THREADS));
            }
            report(kind, stays, ran);
            return stays;
        }
    }

    private static void awaitDone(Fleet fleet) {
        try {
            fleet.awaitAll("DONE", PATIENCE);
        } catch (AssertionError e) {
            fleet.send("dump");
            var lines = new ArrayList<String>();
            for (ChildJvm child : fleet) {
                child.await("DUMPED", PATIENCE);
                lines.addAll(child.lines());
            }
            throw new AssertionError(String.join("\n", lines), e);
        }
    }

    private void report(Kind kind, List<Stay> stays, long ranNanos) {
        StringBuilder waits = new StringBuilder();
        for (int permits = 1; permits <= SemaphoreHammer.MOST; permits++) {
            waits.append("; for ").append(permits).append(": ").append(waits(stays, permits));
        }
        reporter.publishEntry(String.format(
                Locale.ROOT, "%s: %d stays in %d ms; waits in ms%s", kind, stays.size(), ranNanos / 1_000_000, waits));
    }

    private static String waits(List<Stay> stays, int permits) {
        double[] sorted = stays.stream()
                .filter(stay -> stay.permits() == permits)
                .mapToDouble(stay -> stay.waited() / 1e6)
                .sorted()
                .toArray();
        return String.format(
                Locale.ROOT,
                "median %.2f, 99 %% %.2f, most %.2f",
                sorted[sorted.length / 2],
                sorted[sorted.length * 99 / 100],
                sorted[sorted.length - 1]);
    }
}
