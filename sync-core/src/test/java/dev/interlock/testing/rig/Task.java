package dev.interlock.testing.rig;

import dev.interlock.testing.ChildJvm;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * What the threads of a {@link Hammer} have to do.
 *
 * @param work the class of their work
 * @param url of Redis
 * @param name of the synchronizer
 * @param threads how many there are
 * @param most how many records each of them makes before it ends
 * @param file what they record
 * @param words what else their work has to know
 */
public record Task(String work, String url, String name, int threads, int most, Path file, List<String> words) {

    private static final int WORDS = 6;

    /** A task without end. */
    public static Task of(
            Class<? extends Work> work, String url, String name, int threads, Path file, Object... words) {
        List<String> line = Stream.of(words).map(Object::toString).toList();
        return new Task(work.getName(), url, name, threads, Integer.MAX_VALUE, file, line);
    }

    /** The same with so many records of each thread. */
    public Task most(int records) {
        return new Task(work, url, name, threads, records, file, words);
    }

    /** What else its work has to know, by index. */
    public String word(int index) {
        return words.get(index);
    }

    /** The same, if that is how long something takes. */
    public Duration duration(int index) {
        return Duration.parse(word(index));
    }

    /** The same, if that is a number. */
    public int number(int index) {
        return Integer.parseInt(word(index));
    }

    static Task parse(String[] arguments) {
        return new Task(
                arguments[0],
                arguments[1],
                arguments[2],
                Integer.parseInt(arguments[3]),
                Integer.parseInt(arguments[4]),
                Path.of(arguments[5]),
                Arrays.asList(arguments).subList(WORDS, arguments.length));
    }

    /** Starts a {@link Hammer} for it; does not wait until that is ready. */
    public ChildJvm start() {
        return hammer().start();
    }

    /** Starts it with the library of a jar. */
    public ChildJvm start(Path library) {
        return hammer().library(library).start();
    }

    private ChildJvm.Builder hammer() {
        return ChildJvm.of(Hammer.class)
                .options("-XX:TieredStopAtLevel=1")
                .arguments(Stream.concat(Stream.of(work, url, name, "" + threads, "" + most, "" + file), words.stream())
                        .toArray(String[]::new));
    }

    Work open() throws ReflectiveOperationException {
        var constructor = Class.forName(work).asSubclass(Work.class).getDeclaredConstructor(Task.class);
        constructor.setAccessible(true);
        return constructor.newInstance(this);
    }
}
