package dev.interlock.benchmarks.pages;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.interlock.benchmarks.report.Figure;
import dev.interlock.benchmarks.report.Numbers;
import dev.interlock.benchmarks.report.Ratio;
import dev.interlock.benchmarks.report.Results;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What JMH has measured, as its own JSON tells it ({@code -rf json}): one trial per benchmark and set of parameters.
 *
 * @param trials in the order in which they ran
 */
record Jmh(List<Trial> trials) {

    /** Where it is kept. */
    static final String FILE = "jmh.json";

    private static final JsonMapper MAPPER =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

    private static final String IMPLEMENTATION = "impl";
    private static final String OURS = "Interlock";

    /** Of whom there are charts, in this order; the tables have all. */
    private static final List<String> SHOWN = List.of(OURS, "Interlock-adapted", "Redisson", "JDK");

    /** Scenarios of the Scoreboard that measure what a benchmark does, and the peer to compare with. */
    private static final Map<String, String> SCENARIOS = Map.of(
            "LockBenchmark.uncontended", "uncontended-1t",
            "LockBenchmark.contended", "contended-1jvm-8t",
            "FairLockBenchmark.contended", "fair-1jvm-8t",
            "SemaphoreBenchmark.contended", "semaphore-1jvm-8t-4p",
            "RateLimiterBenchmark.single", "rate-bucket-1t",
            "RateLimiterBenchmark.shared", "rate-bucket-8t");

    private static final Map<String, String> PEERS = Map.of(
            "FairLockBenchmark", "RFairLock",
            "SemaphoreBenchmark", "RSemaphore",
            "RateLimiterBenchmark", "RRateLimiter");

    /** Copies them. */
    Jmh {
        trials = List.copyOf(trials);
    }

    /**
     * One benchmark with one set of parameters.
     *
     * @param benchmark its class and method, without the package
     * @param params by name
     * @param mode as JMH calls it
     * @param runs forks and iterations, as in {@code 3 × 5}
     * @param score the mean
     * @param error half of the confidence interval of 99.9 %; not a number if there was only one iteration
     * @param p99 null unless single times were sampled
     * @param bytes allocated per operation; null without {@code -prof gc}
     */
    record Trial(
            String benchmark,
            Map<String, String> params,
            String mode,
            int threads,
            String runs,
            double score,
            double error,
            String unit,
            @Nullable Double p50,
            @Nullable Double p99,
            @Nullable Double bytes) {

        String type() {
            return benchmark.substring(0, benchmark.indexOf('.'));
        }

        String implementation() {
            return params.getOrDefault(IMPLEMENTATION, "");
        }

        /** The other parameters, where they aren't those of the class. */
        private String others() {
            return params.entrySet().stream()
                    .filter(param -> !param.getKey().equals(IMPLEMENTATION))
                    .filter(param -> !param.equals(Map.entry("jvms", "1"))
                            && !param.getValue().equals("0"))
                    .map(param -> ", " + param)
                    .reduce("", String::concat);
        }

        boolean isSame(Trial other) {
            return benchmark.equals(other.benchmark) && others().equals(other.others());
        }

        // In thousandths of the unit: XChart misplaces the errors of what is below one.
        private void show(Plot plot) {
            plot.add(implementation(), place(this), 1_000 * score);
            double low = Math.max(score - error, score / 10); // an error may be as large as the score
            plot.span(implementation(), place(this), 1_000 * low, 1_000 * (score + error));
        }

        boolean isThroughput() {
            return mode.equals("thrpt");
        }
    }

    /** Takes over a file of JMH's, without what only its machine has to do with. */
    static void keep(Path file, Path docs) {
        try {
            JsonNode all = MAPPER.readTree(Files.readString(file));
            for (JsonNode trial : all) {
                ((ObjectNode) trial).remove(List.of("jvm", "jvmArgs"));
                ((ObjectNode) trial.path("primaryMetric")).remove("rawDataHistogram");
            }
            Files.writeString(docs.resolve(FILE), MAPPER.writeValueAsString(all) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What is kept in a folder, if there is anything. */
    static Optional<Jmh> read(Path docs) {
        Path file = docs.resolve(FILE);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            var trials = new ArrayList<Trial>();
            for (JsonNode trial : MAPPER.readTree(Files.readString(file))) {
                trials.add(trial(trial));
            }
            return Optional.of(new Jmh(trials));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Trial trial(JsonNode node) {
        String name = node.path("benchmark").asText();
        int method = name.lastIndexOf('.');
        var params = new LinkedHashMap<String, String>();
        node.path("params")
                .properties()
                .forEach(param -> params.put(param.getKey(), param.getValue().asText()));
        JsonNode metric = node.path("primaryMetric");
        String mode = node.path("mode").asText();
        JsonNode percentiles = metric.path("scorePercentiles");
        boolean isSampled = mode.equals("sample");
        return new Trial(
                name.substring(name.lastIndexOf('.', method - 1) + 1),
                params,
                mode,
                node.path("threads").asInt(),
                node.path("forks").asInt() + " × "
                        + node.path("measurementIterations").asInt(),
                metric.path("score").asDouble(),
                metric.path("scoreError").asDouble(Double.NaN),
                metric.path("scoreUnit").asText(),
                isSampled ? percentiles.path("50.0").asDouble() : null,
                isSampled ? percentiles.path("99.0").asDouble() : null,
                bytes(node.path("secondaryMetrics")));
    }

    // JMH has called it by several names.
    private static @Nullable Double bytes(JsonNode metrics) {
        for (var metric : metrics.properties()) {
            if (metric.getKey().endsWith("gc.alloc.rate.norm")) {
                return metric.getValue().path("score").asDouble();
            }
        }
        return null;
    }

    /** A row for each trial. */
    List<List<String>> rows() {
        return trials.stream()
                .map(one -> List.of(
                        "`" + one.benchmark + "`" + one.others(),
                        "`" + one.implementation() + "`",
                        String.valueOf(one.threads),
                        Numbers.exact(one.score) + (Double.isNaN(one.error) ? "" : " ± " + Numbers.exact(one.error)),
                        one.unit,
                        one.p50 == null ? "–" : Numbers.exact(one.p50),
                        one.p99 == null ? "–" : Numbers.exact(one.p99),
                        one.bytes == null ? "–" : one.bytes < 0.5 ? "0" : Numbers.exact(one.bytes),
                        one.implementation().equals(OURS)
                                ? ""
                                : ours(one)
                                        .map(ours -> Speed.of(ours, one).text())
                                        .orElse("–")))
                .toList();
    }

    static List<String> headings() {
        return List.of(
                "benchmark",
                "impl",
                "threads",
                "score",
                "unit",
                "p50",
                "p99",
                "bytes allocated",
                "ours over it, in speed");
    }

    private Optional<Trial> ours(Trial other) {
        return trials.stream()
                .filter(one -> one.isSame(other) && one.implementation().equals(OURS))
                .findFirst();
    }

    /**
     * How many times as fast.
     *
     * @param error of that, by those of both scores
     */
    private record Speed(double ratio, double error) {

        static Speed of(Trial ours, Trial theirs) {
            double ratio = ours.isThroughput() ? ours.score / theirs.score : theirs.score / ours.score;
            return new Speed(ratio, ratio * Math.hypot(ours.error / ours.score, theirs.error / theirs.score));
        }

        String text() {
            return Numbers.ratio(ratio) + (Double.isNaN(error) ? "" : " ± " + Numbers.ratio(error));
        }

        boolean meets(double least, double most) {
            return ratio + error >= least && ratio - error <= most;
        }
    }

    /** A row for what the Scoreboard measures, too: the ratio to Redisson's here and there, and whether they agree. */
    List<List<String>> comparison(Results scoreboard) {
        var rows = new ArrayList<List<String>>();
        for (Trial theirs : trials) {
            String scenario = SCENARIOS.get(theirs.benchmark);
            if (scenario == null || !theirs.implementation().equals("Redisson")) {
                continue;
            }
            Optional<Ratio> there = scoreboard.ratio(scenario, PEERS.getOrDefault(theirs.type(), "RLock"), Figure.RATE);
            Optional<Trial> mine = ours(theirs);
            if (there.isPresent() && mine.isPresent()) {
                Speed here = Speed.of(mine.get(), theirs);
                rows.add(List.of(
                        "`" + theirs.benchmark + "`",
                        "`" + scenario + "`",
                        here.text(),
                        there.get().text(),
                        here.meets(there.get().least(), there.get().most()) ? "yes" : "**no**"));
            }
        }
        return rows;
    }

    /** Operations per second of what contends, with their errors. */
    Chart chart() {
        List<Trial> shown = trials.stream()
                .filter(one -> one.isThroughput() && SHOWN.contains(one.implementation()))
                .filter(one -> one.others().isEmpty())
                .toList();
        var plot = Plot.ofDots(
                "JMH: threads of one JVM (more is better)",
                "operations per second",
                shown.stream().map(Jmh::place).distinct().toList());
        for (String implementation : SHOWN) {
            shown.stream()
                    .filter(one -> one.implementation().equals(implementation))
                    .forEach(one -> one.show(plot));
        }
        return new Chart(
                "jmh",
                plot,
                "Each benchmark and implementation in JVMs of its own, " + trials.get(0).runs
                        + " forks and iterations; whiskers are errors, half of the confidence interval of 99.9 %. The"
                        + " JDK's own classes are the limit. " + behind());
    }

    /** Where Redisson is ahead of ours, by more than both errors. */
    private String behind() {
        String ahead = trials.stream()
                .filter(one -> one.implementation().equals("Redisson"))
                .flatMap(one -> ours(one).stream()
                        .map(ours -> Speed.of(ours, one))
                        .filter(speed -> speed.ratio + speed.error < 1)
                        .map(speed -> "`" + one.benchmark + "` (" + Numbers.ratio(1 / speed.ratio) + " ×)"))
                .collect(Collectors.joining(", "));
        return ahead.isEmpty() ? "" : "**Redisson is ahead** in " + ahead + ".";
    }

    private static String place(Trial one) {
        return one.benchmark
                .replace("Benchmark.", " ")
                .replaceFirst(" (contended|pingPong|lives|together|shared)$", "")
                .replace("ReadWriteLock", "RW");
    }
}
