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
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.ChartEncoder;

/** The charts of a run; one that would be empty isn't drawn. */
final class Charts {

    /**
     * A chart in a file.
     *
     * @param file its name
     * @param title what it shows
     */
    record Drawn(String file, String title) {}

    static final String RETAINED = "retained, 1 thread";
    static final String CONTENDED = "contended, 8 threads";
    static final String UNCONTENDED = "uncontended, 1 thread";

    private static final List<String> THREADS = List.of("1", "2", "4", "8", "16", "32", "64");
    private static final List<String> JVMS = List.of("1", "2", "4", "8");
    private static final List<String> DELAYS = List.of("nothing", "0.5 ms", "2 ms");
    private static final List<String> SECTIONS = List.of("none", "100 µs", "5 ms");
    private static final List<String> PERCENTILES = List.of("p50", "p90", "p99", "p99.9", "max");

    private final Results results;
    private final Path folder;
    private final List<Drawn> drawn = new ArrayList<>();

    private Charts(Results results, Path folder) {
        this.results = results;
        this.folder = folder;
    }

    /** Draws all of them into a folder. */
    static List<Drawn> draw(Results results, Optional<Jmh> jmh, Path folder) {
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
        jmh.ifPresent(suite -> {
            charts.save("jmh-throughput", suite.throughput());
            charts.save("jmh-latency", suite.latency());
        });
        return charts.drawn;
    }

    private void throughputOverThreads() {
        var chart = Plot.ofLines(
                "Throughput of one JVM, empty section (more is better)", "threads", "sections per second", THREADS);
        THREADS.forEach(threads -> add(chart, threads, "throughput-1jvm-" + threads + "t"));
        save("throughput-threads", chart);
    }

    private void throughputOverJvms() {
        var chart = Plot.ofLines(
                "Throughput of several JVMs, two threads each (more is better)", "JVMs", "sections per second", JVMS);
        JVMS.forEach(jvms -> add(chart, jvms, "throughput-" + jvms + "jvm-2t"));
        save("throughput-jvms", chart);
    }

    private void add(Plot chart, String place, String scenario) {
        results.of(scenario).forEach(one -> chart.add(one.contestant(), place, one.median()));
    }

    private void handOffs() {
        var chart = Plot.ofLines(
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
                    chart.add(one.contestant(), PERCENTILES.get(i), micros.get(i));
                }
            }
        }
        save("handoff-latency", chart);
    }

    private void commands() {
        Map<String, String> groups = new LinkedHashMap<>();
        groups.put("uncontended-1t", "1 thread");
        groups.put("throughput-1jvm-8t", "8 threads, 1 JVM");
        groups.put("throughput-4jvm-2t", "4 JVMs, 2 threads each");
        var chart = Plot.ofBars(
                "Commands that Redis executes per acquisition (less is better)",
                "commands per lock/unlock pair",
                List.copyOf(groups.values()));
        groups.forEach((scenario, label) -> results.of(scenario).stream()
                .filter(one -> one.cost() != null && !one.contestant().equals("round-trip"))
                .forEach(one -> chart.add(one.contestant(), label, Figure.COMMANDS.of(one))));
        save("commands", chart);
    }

    private void delays() {
        var chart = Plot.ofLines(
                "Interlock over RLock, with a network that is slower (more is better)",
                "added to each round trip",
                "times RLock's throughput",
                DELAYS);
        Map<String, List<String>> lines = new LinkedHashMap<>();
        lines.put(RETAINED, List.of("uncontended-retained-1t", "delay-0.5ms-retained-1t", "delay-2ms-retained-1t"));
        lines.put(
                CONTENDED,
                List.of("contended-1jvm-8t", "delay-0.5ms-contended-1jvm-8t", "delay-2ms-contended-1jvm-8t"));
        lines.put(UNCONTENDED, List.of("uncontended-1t", "delay-0.5ms-uncontended-1t", "delay-2ms-uncontended-1t"));
        lines.forEach((line, scenarios) -> {
            for (int i = 0; i < scenarios.size(); i++) {
                String delay = DELAYS.get(i);
                ratio(scenarios.get(i), "RLock").ifPresent(ratio -> chart.add(line, delay, ratio));
            }
        });
        save("network-delay", chart);
    }

    private void sections() {
        var chart = Plot.ofLines(
                "Throughput in percent of ReentrantLock's, 8 threads (more is better)",
                "time in the critical section",
                "percent of ReentrantLock",
                SECTIONS);
        List<String> scenarios = List.of("throughput-1jvm-8t", "section-100us-1jvm-8t", "section-5ms-1jvm-8t");
        for (int i = 0; i < scenarios.size(); i++) {
            String section = SECTIONS.get(i);
            String scenario = scenarios.get(i);
            results.of(scenario, "ReentrantLock")
                    .ifPresent(limit -> results.of(scenario).stream()
                            .filter(one -> !one.contestant().equals("ReentrantLock"))
                            .forEach(one -> chart.add(one.contestant(), section, 100 * one.median() / limit.median())));
        }
        save("sections", chart);
    }

    private Optional<Double> ratio(String scenario, String peer) {
        return results.ours(scenario)
                .flatMap(ours -> results.of(scenario, peer).map(theirs -> ours.median() / theirs.median()));
    }

    private void save(String name, Plot plot) {
        Path file = folder.resolve(name + ".png");
        Optional<CategoryChart> chart = plot.chart();
        try {
            Files.deleteIfExists(file); // that of another run
            if (chart.isPresent()) {
                Files.write(file, ChartEncoder.getBytes(chart.get(), "png"));
                drawn.add(new Drawn(name + ".png", plot.title()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
