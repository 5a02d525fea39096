package dev.interlock.readwrite.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.readwrite.fleet.ReadWriteWork.Roles;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Rig;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

    /** Runs a fleet until its threads are through, or for a while, and returns what they have been through. */
    private List<Passage> run(String name, Roles roles, int passages, Duration time) throws IOException {
        Path pair = folder.resolve("pair");
        List<Task> tasks = IntStream.range(0, JVMS)
                .mapToObj(jvm -> roles.task(rig.url(), name, folder.resolve("passages-" + jvm), pair)
                        .most(passages))
                .toList();
        try (var hammers = Hammers.start(Passage.LOG, tasks)) {
            Duration ran = hammers.run(time);
            List<Passage> history = hammers.records();
            rig.report(history.size() + " passages in " + ran.toMillis() + " ms");
            rig.report("waits of readers: " + waits(history, passage -> !passage.writes()));
            rig.report("waits of writers: " + waits(history, Passage::writes));
            return history;
        }
    }

    private static String waits(List<Passage> history, Predicate<Passage> which) {
        return Hammers.summary(history.stream().filter(which).mapToLong(Passage::waited));
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
                rig.name("history-" + kind),
                new Roles(kind, "m".repeat(THREADS), Duration.ZERO, Duration.ZERO),
                each,
                Duration.ZERO);
        assertThat(history).hasSize(each * JVMS * THREADS);
        Passage.assertReadersShareAndWritersExclude(history);
        assertThat(history.stream().filter(Passage::writes)).hasSizeGreaterThan(history.size() / 20);
    }

    /** Runs a fleet for a while, in which nobody may wait for long. */
    private List<Passage> crowd(Roles roles) throws IOException {
        List<Passage> history = run(rig.name("crowd"), roles, Integer.MAX_VALUE, WARM_UP.plus(LOAD));
        Passage.assertReadersShareAndWritersExclude(history);
        assertWaitsAreBounded(history);
        return history;
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

    /** Readers of all JVMs come so close together that one always reads: writers of all JVMs still get in, soon. */
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
        List<Passage> history = crowd(new Roles(kind, "rrrrrw", Duration.ofMillis(8), Duration.ofMillis(120)));
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
        List<Passage> history = crowd(new Roles(kind, "wwwwrr", Duration.ZERO, Duration.ZERO));
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
