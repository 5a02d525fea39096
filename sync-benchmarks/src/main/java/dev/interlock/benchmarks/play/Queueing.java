package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.play.Contest.BrokenExclusionException;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Measurement.Latency;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenario.Measure;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.testing.ChildJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Many threads of one JVM that wait for one lock: how fast all of them have had it, or as many as had it when time was
 * over.
 */
final class Queueing {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int VIRTUAL_THREADS_SINCE = 21;

    /** The first word of what a queue says about its waits. */
    private static final int LATENCY = 6;

    private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+).*");

    private Queueing() {}

    /** Why this machine can't play it. */
    static Optional<String> hindrance(Scenario scenario) {
        return scenario.measure() == Measure.VIRTUAL_QUEUE && home() == null
                ? Optional.of("no JDK with virtual threads stands beside the one that runs this")
                : Optional.empty();
    }

    /**
     * Plays.
     *
     * @param remarks hears with which contestant threads gave up, and why
     */
    static List<Measurement> play(Scenario scenario, Pace pace, String redisUrl, BiConsumer<String, String> remarks) {
        return scenario.contestants().stream()
                .map(contestant -> play(scenario, pace, redisUrl, contestant, remarks))
                .toList();
    }

    private static Measurement play(
            Scenario scenario, Pace pace, String redisUrl, String contestant, BiConsumer<String, String> remarks) {
        try (ChildJvm queue = start(scenario, pace, redisUrl, contestant)) {
            String[] words = queue.await("had ", PATIENCE.plus(pace.round())).split(" ", -1);
            long had = Long.parseLong(words[1]);
            if (Long.parseLong(words[2]) < had) {
                throw new BrokenExclusionException(
                        scenario.name(), contestant, had + " critical sections, but the counter says " + words[2]);
            }
            double seconds = Double.parseDouble(words[3]);
            long gaveUp = Long.parseLong(words[4]);
            if (gaveUp > 0) {
                remarks.accept(
                        contestant,
                        String.format(
                                Locale.ROOT, "%,d of %,d threads gave up: %s", gaveUp, scenario.threads(), words[5]));
            }
            return new Measurement(
                    scenario.name(),
                    scenario.family(),
                    contestant,
                    1,
                    scenario.threads(),
                    0,
                    0,
                    List.of(had / seconds),
                    latency(words),
                    null,
                    null,
                    null);
        }
    }

    private static ChildJvm start(Scenario scenario, Pace pace, String redisUrl, String contestant) {
        boolean isVirtual = scenario.measure() == Measure.VIRTUAL_QUEUE;
        var child = ChildJvm.of(Queue.class)
                .options("-Xmx1g", "-Xss256k")
                .arguments(
                        redisUrl,
                        contestant,
                        String.valueOf(scenario.threads()),
                        String.valueOf(isVirtual),
                        String.valueOf(pace.round().toMillis()));
        Path home = home();
        if (isVirtual && home != null) {
            child.home(home);
        }
        return child.start();
    }

    private static @Nullable Latency latency(String[] words) {
        if (words.length == LATENCY) {
            return null; // nobody has had it
        }
        double[] micros = Stream.of(words)
                .skip(LATENCY)
                .limit(5)
                .mapToDouble(Double::parseDouble)
                .toArray();
        long samples = Long.parseLong(words[LATENCY + 5]);
        return new Latency(micros[0], micros[1], micros[2], micros[3], micros[4], samples, List.of());
    }

    /** This JDK if it has virtual threads, else the newest beside it that has. */
    private static @Nullable Path home() {
        Path own = Path.of(System.getProperty("java.home"));
        if (Runtime.version().feature() >= VIRTUAL_THREADS_SINCE) {
            return own;
        }
        Path folder = own.getParent();
        if (folder == null) {
            return null;
        }
        try (Stream<Path> others = Files.list(folder)) {
            return others.filter(home -> feature(home) >= VIRTUAL_THREADS_SINCE)
                    .max((one, other) -> Integer.compare(feature(one), feature(other)))
                    .orElse(null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int feature(Path home) {
        Path release = home.resolve("release");
        if (!Files.isRegularFile(release)) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(release)) {
            return lines.map(VERSION::matcher)
                    .filter(Matcher::matches)
                    .mapToInt(version -> Integer.parseInt(version.group(1)))
                    .findFirst()
                    .orElse(0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
