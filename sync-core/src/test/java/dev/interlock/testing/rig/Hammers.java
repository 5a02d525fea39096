package dev.interlock.testing.rig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.ChildJvm;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.core.ConditionTimeoutException;

/** The {@link Hammer}s of a test: those that run, and what all of them have recorded, killed ones included. */
public final class Hammers<R> implements AutoCloseable {

    /** For how long to wait for what need not be soon. */
    public static final Duration PATIENCE = Duration.ofMinutes(2);

    private final LogFormat<R> format;
    private final List<Task> tasks = new ArrayList<>();
    private final List<ChildJvm> all = new ArrayList<>();

    private List<String> greetings = List.of();

    /** Those that nobody has killed or ended. */
    private final List<ChildJvm> running = new ArrayList<>();

    /** What a JVM has done: the records of each of its threads. */
    public record Progress(List<Long> records) {

        public long all() {
            return records.stream().mapToLong(Long::longValue).sum();
        }

        public long slowest() {
            return records.stream().mapToLong(Long::longValue).min().orElseThrow();
        }

        private static Progress parse(String line) {
            return new Progress(Arrays.stream(line.split(" ", -1))
                    .skip(1)
                    .map(Long::valueOf)
                    .toList());
        }
    }

    private Hammers(LogFormat<R> format) {
        this.format = format;
    }

    /** Starts some side by side, and returns when they are ready. */
    public static <R> Hammers<R> start(LogFormat<R> format, List<Task> tasks) {
        var hammers = new Hammers<>(format);
        try {
            tasks.forEach(hammers::add);
            hammers.greetings = hammers.all.stream()
                    .map(child -> child.await("READY ", PATIENCE).substring("READY ".length()))
                    .toList();
        } catch (RuntimeException | Error e) {
            hammers.close();
            throw e;
        }
        return hammers;
    }

    private void add(Task task) {
        ChildJvm child = task.start();
        tasks.add(task);
        all.add(child);
        running.add(child);
    }

    /** What they said when they were ready, by index. */
    public List<String> greetings() {
        return greetings;
    }

    /** The one with an index from 0. */
    public ChildJvm get(int index) {
        return all.get(index);
    }

    /** Those that run. */
    public List<ChildJvm> running() {
        return List.copyOf(running);
    }

    /** As {@code kill -9} does. */
    public void kill(ChildJvm child) {
        running.remove(child);
        child.kill();
    }

    /** Has all of them begin. */
    public void go() {
        running.forEach(child -> child.send("go"));
    }

    /** What each of those that run has done. */
    public List<Progress> progress() {
        running.forEach(child -> child.send("progress"));
        return running.stream()
                .map(child -> Progress.parse(child.await("PROGRESS", PATIENCE)))
                .toList();
    }

    /** What one of them has done. */
    public static Progress progress(ChildJvm child) {
        child.send("progress");
        return Progress.parse(child.await("PROGRESS", PATIENCE));
    }

    /** Where all threads are. */
    public String dump() {
        List<ChildJvm> alive = running.stream().filter(ChildJvm::isAlive).toList();
        alive.forEach(child -> child.send("dump"));
        alive.forEach(child -> child.await("DUMPED", PATIENCE));
        return all.stream()
                .map(child -> child + ":\n" + String.join("\n", child.lines()))
                .collect(Collectors.joining("\n"));
    }

    /** Waits until each JVM that runs has made a record again. */
    public void awaitProgress(String what, Duration patience) {
        for (ChildJvm child : running) {
            long before = progress(child).all();
            try {
                await("progress of " + child + ", " + what)
                        .atMost(patience)
                        .until(() -> progress(child).all() > before);
            } catch (ConditionTimeoutException e) {
                throw new AssertionError(dump(), e);
            }
        }
    }

    /** Ends those that run, and asserts that all went well with them. Returns what they have said in the end. */
    public List<String> stop() {
        running.forEach(child -> child.send("stop"));
        List<String> farewells = running.stream().map(Hammers::awaitEnd).toList();
        running.clear();
        assertNoneSaid("LOST");
        return farewells;
    }

    private static String awaitEnd(ChildJvm child) {
        String farewell = child.await("STOPPED", PATIENCE);
        assertThat(child.waitFor(PATIENCE)).isZero();
        return farewell;
    }

    /** Asserts that none has said anything that starts so. */
    public void assertNoneSaid(String prefix) {
        for (ChildJvm child : all) {
            assertThat(child.lines()).as("said by %s", child).noneMatch(line -> line.startsWith(prefix));
        }
    }

    /** All that was recorded. */
    public List<R> records() throws IOException {
        List<R> records = new ArrayList<>();
        for (int jvm = 0; jvm < tasks.size(); jvm++) {
            records.addAll(
                    format.read(jvm, tasks.get(jvm).file(), tasks.get(jvm).threads()));
        }
        return records;
    }

    @Override
    public void close() {
        all.forEach(ChildJvm::destroy); // all of them, before one that does not end can get in the way
        all.forEach(ChildJvm::close);
    }
}
