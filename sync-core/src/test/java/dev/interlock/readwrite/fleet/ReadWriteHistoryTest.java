package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.readwrite.fleet.ReadWriteHammer.Task;
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
import java.util.function.IntFunction;
import java.util.function.Predicate;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many threads of several JVMs: readers together, writers alone, neither keeps the other waiting for long. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class ReadWriteHistoryTest {

    private static final int JVMS = 3;
    private static final int THREADS = 8;
    private static final int LEAST_SOAKED_PASSAGES = 50_000;
    private static final long PASSAGES_PER_SECOND_OF_SOAK = 3_000;
    private static final Duration BOUND = Duration.ofSeconds(4);
    private static final Duration WARM_UP = Duration.ofSeconds(1);
    private static final Duration LOAD = Duration.ofSeconds(6);
    private static final Duration PATIENCE = Duration.ofSeconds(100);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    ReadWriteHistoryTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    private Task task(String kind, String roles, int passages, Duration stay, Duration rest, int jvm) {
        return new Task(kind, roles, passages, stay, rest, folder.resolve("passages-" + jvm), folder.resolve("pair"));
    }

    /** Runs a fleet until its threads are through, or for a while, and returns what they have been through. */
    private List<Passage> run(String name, IntFunction<Task> tasks, Duration limit) throws IOException {
        String url = keyspace.server().url();
        try (Fleet fleet = Fleet.start(JVMS, jvm -> ReadWriteHammer.of(url, name, tasks.apply(jvm)))) {
            fleet.awaitAll("READY", PATIENCE);
            long start = System.nanoTime();
            fleet.send("go");
            if (limit.isZero()) {
                awaitDone(fleet);
            } else {
                Awaitility.await("a while")
                        .pollDelay(WARM_UP.plus(limit))
                        .atMost(PATIENCE)
                        .until(() -> true);
            }
            long ran = System.nanoTime() - start;
            fleet.send("stop");
            fleet.awaitAll("STOPPED", PATIENCE);
            List<Passage> passages = new ArrayList<>();
            for (int jvm = 0; jvm < JVMS; jvm++) {
                Task task = tasks.apply(jvm);
                assertThat(fleet.get(jvm).waitFor(PATIENCE)).isZero();
                assertThat(fleet.get(jvm).lines()).noneMatch(line -> line.startsWith("LOST"));
                passages.addAll(PassageLog.read(jvm, task.file(), task.roles().length()));
            }
            report(passages, ran);
            return passages;
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

    private void report(List<Passage> passages, long ranNanos) {
        reporter.publishEntry(String.format(
                Locale.ROOT,
                "%d passages in %d ms, %d of writers; waits in ms: readers %s, writers %s",
                passages.size(),
                ranNanos / 1_000_000,
                passages.stream().filter(Passage::writes).count(),
                waits(passages, passage -> !passage.writes()),
                waits(passages, Passage::writes)));
    }

    private static String waits(List<Passage> passages, Predicate<Passage> which) {
        double[] sorted = passages.stream()
                .filter(which)
                .mapToDouble(passage -> passage.waited() / 1e6)
                .sorted()
                .toArray();
        return sorted.length == 0
                ? "none"
                : String.format(
                        Locale.ROOT,
                        "median %.2f, 99 %% %.2f, most %.2f",
                        sorted[sorted.length / 2],
                        sorted[sorted.length * 99 / 100],
                        sorted[sorted.length - 1]);
    }

    /** Asserts it of those who have come after the JVMs had begun to run. */
    private static void assertWaitsAreBounded(List<Passage> history) {
        long begun = history.stream().mapToLong(Passage::begun).max().orElseThrow() - LOAD.toNanos();
        long longest = history.stream()
                .filter(passage -> passage.begun() > begun)
                .mapToLong(Passage::waited)
                .max()
                .orElseThrow();
        assertWithin("the longest wait", BOUND, Duration.ofNanos(longest));
    }

    /**
     * Nobody is inside beside a writer, no pair is seen torn or stale, and tokens grow over all passages of all JVMs.
     */
    @ParameterizedTest
    @CsvSource({"plain, 10000"})
    void readersShareAndWritersExclude(String kind, int passages) throws IOException {
        mix(kind, passages);
    }

    /** The same for longer. */
    @ParameterizedTest
    @ValueSource(strings = {"plain", "fair"})
    @Tag("soak")
    void soak(String kind) throws IOException {
        long seconds = Long.getLong("interlock.soak.seconds", 120);
        mix(kind, Math.toIntExact(Math.max(LEAST_SOAKED_PASSAGES, PASSAGES_PER_SECOND_OF_SOAK * seconds)));
    }

    private void mix(String kind, int passages) throws IOException {
        int each = (passages + JVMS * THREADS - 1) / (JVMS * THREADS);
        List<Passage> history = run(
                keyspace.name("history-" + kind),
                jvm -> task(kind, "m".repeat(THREADS), each, Duration.ZERO, Duration.ZERO, jvm),
                Duration.ZERO);
        assertThat(history).hasSize(each * JVMS * THREADS);
        Passage.assertReadersShareAndWritersExclude(history);
        assertThat(history.stream().filter(Passage::writes)).hasSizeGreaterThan(history.size() / 20);
    }

    private static long readersBesideOthers(List<Passage> history) {
        List<Passage> readers = history.stream()
                .filter(passage -> !passage.writes())
                .sorted((a, b) -> Long.compare(a.enter(), b.enter()))
                .toList();
        long count = 0;
        for (int i = 1; i < readers.size(); i++) {
            Passage before = readers.get(i - 1);
            count += before.jvm() != readers.get(i).jvm()
                            && before.exit() > readers.get(i).enter()
                    ? 1
                    : 0;
        }
        return count;
    }

    /**
     * Readers of all JVMs come so close together that somebody always reads: writers of all JVMs still get in, soon.
     */
    @Test
    @Tag("proof")
    void writersGetInAmongReadersThatNeverStop() throws IOException {
        readOn("plain");
    }

    @Test
    @Tag("proof")
    void writersGetInAmongReadersThatNeverStopFairly() throws IOException {
        readOn("fair");
    }

    private void readOn(String kind) throws IOException {
        Duration stay = Duration.ofMillis(8);
        List<Passage> history = run(
                keyspace.name("readers-" + kind),
                jvm -> task(kind, "rrrrrw", Integer.MAX_VALUE, stay, Duration.ofMillis(120), jvm),
                LOAD);
        Passage.assertReadersShareAndWritersExclude(history);
        assertWaitsAreBounded(history);
        List<Passage> writers = history.stream().filter(Passage::writes).toList();
        assertThat(writers).hasSizeGreaterThan(15);
        long amongReaders = writers.stream()
                .filter(writer -> isRead(history, writer.begun()))
                .count();
        assertThat(amongReaders).as("writers that found readers inside").isGreaterThan(writers.size() / 4);
        assertThat(readersBesideOthers(history))
                .as("readers beside readers of another JVM")
                .isGreaterThan(20);
    }

    private static boolean isRead(List<Passage> history, long nanos) {
        return history.stream().anyMatch(other -> !other.writes() && other.enter() <= nanos && nanos < other.exit());
    }

    /** Writers of all JVMs queue all the time: readers of all JVMs still get in, soon and again and again. */
    @Test
    @Tag("proof")
    void readersGetInAmongWritersThatNeverStop() throws IOException {
        writeOn("plain");
    }

    @Test
    @Tag("proof")
    void readersGetInAmongWritersThatNeverStopFairly() throws IOException {
        writeOn("fair");
    }

    private void writeOn(String kind) throws IOException {
        List<Passage> history = run(
                keyspace.name("writers-" + kind),
                jvm -> task(kind, "wwwwrr", Integer.MAX_VALUE, Duration.ZERO, Duration.ZERO, jvm),
                LOAD);
        Passage.assertReadersShareAndWritersExclude(history);
        assertWaitsAreBounded(history);
        for (int jvm = 0; jvm < JVMS; jvm++) {
            int self = jvm;
            for (int thread = 4; thread < 6; thread++) {
                int reader = thread;
                assertThat(history.stream().filter(p -> p.jvm() == self && p.thread() == reader))
                        .as("passages of reader %d of JVM %d", reader, self)
                        .hasSizeGreaterThan(2);
            }
        }
    }
}
