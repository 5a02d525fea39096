package dev.interlock.benchmarks.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.internal.chartpart.Chart;

/** The charts of a run; one that would be empty isn't drawn. */
final class Charts {

    /**
     * A chart in a file.
     *
     * @param file its name
     * @param title what it shows
     */
    record Drawn(String file, String title) {}

    private static final int[] THREADS = {1, 2, 4, 8, 16, 32, 64};
    private static final int[] JVMS = {1, 2, 4, 8};
    private static final List<String> PERCENTILES = List.of("p50", "p90", "p99", "p99.9", "max");

    private final Results results;
    private final Path folder;
    private final List<Drawn> drawn = new ArrayList<>();

    private Charts(Results results, Path folder) {
        this.results = results;
        this.folder = folder;
    }

    /** Draws all of them into a folder. */
    static List<Drawn> draw(Results results, Path folder) {
        System.setProperty("java.awt.headless", "true");
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        var charts = new Charts(results, folder);
        charts.throughputOverThreads();
        charts.throughputOverJvms();
        charts.handOffs();
        charts.commands();
        charts.delays();
        charts.sections();
        return charts.drawn;
    }

    private void throughputOverThreads() {
        var chart = new LineChart(
                "Throughput of one JVM, empty section (more is better)",
                "threads",
                "sections per second",
                IntStream.of(THREADS).mapToObj(String::valueOf).toList());
        for (int i = 0; i < THREADS.length; i++) {
            int x = i;
            results.of("throughput-1jvm-" + THREADS[i] + "t")
                    .forEach(one -> chart.add(one.contestant(), x, one.median()));
        }
        save("throughput-threads", chart.title(), chart.chart());
    }

    private void throughputOverJvms() {
        var chart = new LineChart(
                "Throughput of several JVMs, two threads each (more is better)",
                "JVMs",
                "sections per second",
                IntStream.of(JVMS).mapToObj(String::valueOf).toList());
        for (int i = 0; i < JVMS.length; i++) {
            int x = i;
            results.of("throughput-" + JVMS[i] + "jvm-2t").forEach(one -> chart.add(one.contestant(), x, one.median()));
        }
        save("throughput-jvms", chart.title(), chart.chart());
    }

    private void handOffs() {
        var chart = new LineChart(
                "From release in one JVM to entry in another (less is better)",
                "percentile",
                "microseconds",
                PERCENTILES);
        for (Measurement one : results.of("handoff-2jvm")) {
            if (one.latency() != null) {
                var latency = one.latency();
                List<Double> micros = List.of(
                        latency.p50Micros(),
                        latency.p90Micros(),
                        latency.p99Micros(),
                        latency.p999Micros(),
                        latency.maxMicros());
                for (int i = 0; i < micros.size(); i++) {
                    chart.add(one.contestant(), i, micros.get(i));
                }
            }
        }
        save("handoff-latency", chart.title(), chart.chart());
    }

    private void commands() {
        Map<String, String> groups = new LinkedHashMap<>();
        groups.put("uncontended-1t", "1 thread");
        groups.put("throughput-1jvm-8t", "8 threads, 1 JVM");
        groups.put("throughput-4jvm-2t", "4 JVMs, 2 threads each");
        var chart = new BarChart(
                "Commands that Redis executes per acquisition (less is better)",
                "commands per lock/unlock pair",
                List.copyOf(groups.values()));
        groups.forEach((scenario, label) -> results.of(scenario).stream()
                .filter(one -> one.cost() != null && !one.contestant().equals("round-trip"))
                .forEach(one -> chart.add(one.contestant(), label, Figure.COMMANDS.of(one))));
        save("commands", chart.title(), chart.chart());
    }

    private void delays() {
        var chart = new LineChart(
                "Interlock over RLock, with a network that is slower (more is better)",
                "added to each round trip",
                "times RLock's throughput",
                List.of("nothing", "0.5 ms", "2 ms"));
        Map<String, List<String>> lines = new LinkedHashMap<>();
        lines.put(
                "retained, 1 thread",
                List.of("uncontended-retained-1t", "delay-0.5ms-retained-1t", "delay-2ms-retained-1t"));
        lines.put(
                "contended, 8 threads",
                List.of("contended-1jvm-8t", "delay-0.5ms-contended-1jvm-8t", "delay-2ms-contended-1jvm-8t"));
        lines.put(
                "uncontended, 1 thread",
                List.of("uncontended-1t", "delay-0.5ms-uncontended-1t", "delay-2ms-uncontended-1t"));
        lines.forEach((line, scenarios) -> {
            for (int i = 0; i < scenarios.size(); i++) {
                int x = i;
                ratio(scenarios.get(i), "RLock").ifPresent(ratio -> chart.add(line, x, ratio));
            }
        });
        save("network-delay", chart.title(), chart.chart());
    }

    private void sections() {
        var chart = new LineChart(
                "Throughput as a part of ReentrantLock's, 8 threads of one JVM (more is better)",
                "time in the critical section",
                "percent of ReentrantLock",
                List.of("none", "100 µs", "5 ms"));
        List<String> scenarios = List.of("throughput-1jvm-8t", "section-100us-1jvm-8t", "section-5ms-1jvm-8t");
        for (int i = 0; i < scenarios.size(); i++) {
            int x = i;
            String scenario = scenarios.get(i);
            results.of(scenario, "ReentrantLock")
                    .ifPresent(limit -> results.of(scenario).stream()
                            .filter(one -> !one.contestant().equals("ReentrantLock"))
                            .forEach(one -> chart.add(one.contestant(), x, 100 * one.median() / limit.median())));
        }
        save("sections", chart.title(), chart.chart());
    }

    private Optional<Double> ratio(String scenario, String peer) {
        return results.ours(scenario)
                .flatMap(ours -> results.of(scenario, peer).map(theirs -> ours.median() / theirs.median()));
    }

    private void save(String name, String title, Optional<? extends Chart<?, ?>> chart) {
        Path file = folder.resolve(name + ".png");
        try {
            Files.deleteIfExists(file); // that of another run
            if (chart.isPresent()) {
                Files.write(file, ChartEncoder.getBytes(chart.get(), "png"));
                drawn.add(new Drawn(name + ".png", title));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
