package dev.interlock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.benchmarks.report.Environment;
import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Measurement.Cost;
import dev.interlock.benchmarks.report.Measurement.Latency;
import dev.interlock.benchmarks.report.Measurement.Shares;
import dev.interlock.benchmarks.report.Measurement.Upkeep;
import dev.interlock.benchmarks.report.Page;
import dev.interlock.benchmarks.report.Results;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.DoubleStream;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ReportTest {

    private static final Results RESULTS = Results.of(
            new Environment(
                    "2026-01-02T03:04:05Z",
                    "abc1234",
                    "Report --quick",
                    "a JVM 17",
                    "7.0.15",
                    Map.of("RLock", "4.7.0"),
                    "an OS",
                    2,
                    0.5),
            Map.of("etcd", "no etcd is installed"),
            List.of(
                    one("uncontended-1t", Family.UNCONTENDED, "Interlock", latency(300), 2_111, 2_222, 2_333),
                    one("uncontended-1t", Family.UNCONTENDED, "RLock", latency(250), 4_444, 4_555, 2_000),
                    one("uncontended-1t", Family.UNCONTENDED, "round-trip", latency(100), 9_000, 9_100, 9_200),
                    one("contended-1jvm-8t", Family.SECTIONS, "Interlock", null, 800_000),
                    one("contended-1jvm-8t", Family.SECTIONS, "ReentrantLock", null, 10_000_000),
                    one("throughput-1jvm-1t", Family.THREADS, "Interlock", null, 2_000),
                    one("throughput-1jvm-1t", Family.THREADS, "RLock", null, 1_900),
                    one("throughput-1jvm-8t", Family.THREADS, "Interlock", null, 1_234_567),
                    one("throughput-1jvm-8t", Family.THREADS, "RLock", null, 2_345)));

    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    @Test
    void whatIsWrittenIsRead() {
        Path file = folder.resolve("results.json");
        RESULTS.write(file);
        assertThat(Results.read(file)).isEqualTo(RESULTS);
    }

    /** All that can be left out, and all that can be there. */
    @Test
    void allPartsOfAMeasurementAreRead() {
        var full = new Measurement(
                "s",
                Family.HELD,
                "RLock",
                1,
                2,
                3,
                4,
                List.of(5.5),
                latency(7),
                new Cost(1.5, 2.5),
                new Shares(0.5, 1.5, 99.0),
                new Upkeep(10, 1, 2, 3));
        Path file = folder.resolve("results.json");
        var results = Results.of(RESULTS.environment(), Map.of(), List.of(full));
        results.write(file);
        assertThat(Results.read(file)).isEqualTo(results);
    }

    @Test
    void tablesTellWhatTheFileSays() throws IOException {
        String page = page();
        assertThat(page)
                .contains("| `uncontended-1t` | `Interlock` | 2,222 | 2,111 | 2,333 |")
                .contains("| `uncontended-1t` | `RLock` | 4,444 | 2,000 | 4,555 |")
                .contains("| 0.50 (0.48–1.17) |")
                .contains("`Report --quick`", "abc1234", "a JVM 17", "7.0.15", "an OS, 2 cores, load 0.5")
                .contains("| RLock | 4.7.0 |");
    }

    @Test
    void schemesAreComparedWhereThePageHasAPlaceForIt() throws IOException {
        Path page = folder.resolve("choosing.md");
        Files.writeString(page, "before\n<!-- measured: begin -->\nolder\n<!-- measured: end -->\nafter\n");
        page();
        page();
        assertThat(Files.readString(page))
                .startsWith("before\n<!-- measured: begin -->\nMedians")
                .endsWith("|\n\n<!-- measured: end -->\nafter\n")
                .contains("| `RLock` | 250 | – | 2,345 | – | – |", "| Interlock | 300 | – | 1,234,567 | – | – |")
                .contains("| etcd | – | – | – | – | – |")
                .doesNotContain("older");
    }

    /** What was measured anew replaces the older; what wasn't stays, and it is told where that is from. */
    @Test
    void aRunIsCompletedByAnother() throws IOException {
        Environment where = RESULTS.environment();
        var later = new Environment(
                "2026-01-03T03:04:05Z",
                "def5678",
                "Report --only=u",
                where.jdk(),
                "7.2",
                Map.of("etcd", "3.4"),
                "an OS",
                2,
                0.1);
        Measurement anew = one("uncontended-1t", Family.UNCONTENDED, "Interlock", null, 9_999);
        Results both = Results.of(later, Map.of(), List.of(anew)).onto(RESULTS);
        assertThat(both.of("uncontended-1t")).containsExactly(anew);
        assertThat(both.of("throughput-1jvm-1t")).isEqualTo(RESULTS.of("throughput-1jvm-1t"));
        assertThat(both.environment().versions()).containsOnlyKeys("RLock", "etcd");
        assertThat(both.absent()).containsOnlyKeys("etcd");
        Path file = folder.resolve("results.json");
        both.write(file);
        assertThat(Results.read(file)).isEqualTo(both);
        Page.write(both, folder);
        assertThat(Files.readString(folder.resolve("benchmarks.md")))
                .contains("def5678")
                .contains("| the other scenarios | `Report --quick`, commit abc1234, 2026-01-02T03:04:05Z, load 0.5 |");
    }

    @Test
    void whoIsAbsentIsListedWithTheReason() throws IOException {
        assertThat(page()).contains("## Absent").contains("| `etcd` | no etcd is installed |");
    }

    /** Tables can't be wrapped. */
    @Test
    void linesAreNoWiderThan120Columns() throws IOException {
        assertThat(page().lines().filter(line -> !line.startsWith("|")))
                .anySatisfy(line -> assertThat(line).startsWith("  "))
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
    }

    /** 300 µs are three times a round trip of 100 µs; 800,000 are 8 % of ten million. */
    @Test
    void thresholdsAreMetOrNotOrNotMeasured() throws IOException {
        assertThat(page().lines())
                .anySatisfy(line -> assertThat(line)
                        .matches("\\| `uncontended-1t` \\| `round-trip` .* \\| ≤ 2.30 \\| 3.00 \\| \\*\\*no\\*\\* \\|"))
                .anySatisfy(line ->
                        assertThat(line).matches("\\| `contended-1jvm-8t` \\| `ReentrantLock` .* \\| 0.08 \\| yes \\|"))
                .anySatisfy(line -> assertThat(line).matches("\\| `handoff-2jvm` .* \\| not measured \\| – \\|"));
    }

    @Test
    void lossesAreToldInWords() throws IOException {
        assertThat(inOneLine(page()))
                .contains("- `uncontended-1t`: `RLock` is 2.00 times as fast as `Interlock`"
                        + " (4,444 against 2,222 per second); ours is ahead in 1 of 3 rounds.")
                .contains("- `contended-1jvm-8t`: the limit `ReentrantLock` is 12.5 times as fast as `Interlock`"
                        + " (10,000,000 against 800,000 per second).")
                .contains(Family.UNCONTENDED.reason())
                .doesNotContain("`throughput-1jvm-8t`: `RLock` is");
    }

    @Test
    void chartsOfWhatWasMeasuredAreDrawn() throws IOException {
        String page = page();
        assertThat(page).contains("](charts/throughput-threads.png)").doesNotContain("](charts/handoff-latency.png)");
        Path chart = folder.resolve("charts/throughput-threads.png");
        BufferedImage image = ImageIO.read(chart.toFile());
        assertThat(image.getWidth()).isEqualTo(1_400);
        assertThat(image.getHeight()).isEqualTo(800);
        assertThat(folder.resolve("charts/handoff-latency.png")).doesNotExist();
    }

    private static String trial(String method, String mode, String impl, double score, String unit) {
        return """
                {"jvm": "/somewhere/java", "jvmArgs": ["-Xmx1g"], "jmhVersion": "1.37",
                 "benchmark": "dev.interlock.benchmarks.jmh.LockBenchmark.%s", "mode": "%s", "threads": 8, "forks": 3,
                 "measurementIterations": 5,
                 "params": {"impl": "%s", "jvms": "1", "delayMillis": "0", "sectionMicros": "0"},
                 "primaryMetric": {"score": %s, "scoreError": %s, "scoreUnit": "%s", "rawDataHistogram": [[[1, 2]]],
                  "scorePercentiles": {"50.0": 380.0, "99.0": 990.0}},
                 "secondaryMetrics": {"gc.alloc.rate.norm": {"score": 0.01}}}
                """.formatted(method, mode, impl, score, score / 10, unit);
    }

    /**
     * JMH's own file is shown with its errors, beside what the Scoreboard says, and kept without what is of its
     * machine.
     */
    @Test
    void whatJmhHasMeasuredStandsOnThePage() throws IOException {
        Path jmh = folder.resolve("run.json");
        Files.writeString(
                jmh,
                List.of(
                                trial("uncontended", "sample", "Interlock", 400, "us/op"),
                                trial("uncontended", "sample", "Redisson", 300, "us/op"),
                                trial("contended", "thrpt", "Interlock", 8_000, "ops/ms"))
                        .toString());
        Path results = folder.resolve("results.json");
        RESULTS.write(results);
        assertThat(run("--from", results.toString(), "--jmh", jmh.toString(), "--docs", folder.toString()))
                .describedAs("%s", err)
                .isZero();
        assertThat(Files.readString(folder.resolve("benchmarks.md")))
                .contains("3 × 5 forks and iterations")
                .contains("| `LockBenchmark.uncontended` | `Redisson` | 8 | 300 ± 30 | us/op"
                        + " | 380 | 990 | 0 | 0.75 ± 0.11 |")
                .contains("| `LockBenchmark.contended` | `Interlock` | 8 | 8,000 ± 800 | ops/ms | – | – | 0 |  |")
                .contains("| `LockBenchmark.uncontended` | `uncontended-1t` | 0.75 ± 0.11 | 0.50 (0.46–1.17) | yes |")
                .contains("](charts/jmh-throughput.png)", "](charts/jmh-latency.png)");
        assertThat(Files.readString(folder.resolve("jmh.json")))
                .doesNotContain("somewhere", "Xmx1g", "rawDataHistogram");
        assertThat(page()).contains("## JMH");
    }

    @Test
    void optionsThatMakeNoSenseAreNamed() {
        assertThat(run("--docs", folder.resolve("none").toString())).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(run("--docs", folder.toString(), "--from", "none.json")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(run("--docs", folder.toString(), "--jmh", "none.json")).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(err.toString()).contains("isn't a folder", "--from none.json isn't", "--jmh none.json isn't");
    }

    private String page() throws IOException {
        Path file = folder.resolve("results.json");
        RESULTS.write(file);
        assertThat(run("--from", file.toString(), "--docs", folder.toString()))
                .describedAs("%s", err)
                .isZero();
        return Files.readString(folder.resolve("benchmarks.md"));
    }

    /** A paragraph or an item is wrapped on the page. */
    private static String inOneLine(String text) {
        return text.replaceAll("(?<=\\S)\n *(?=\\S)", " ");
    }

    private int run(String... args) {
        return new CommandLine(new Report()).setErr(new PrintWriter(err)).execute(args);
    }

    private static Latency latency(double p50Micros) {
        return new Latency(p50Micros, 2 * p50Micros, 3 * p50Micros, 4 * p50Micros, 5 * p50Micros);
    }

    private static Measurement one(
            String scenario, Family family, String contestant, @Nullable Latency latency, double... perSecond) {
        return new Measurement(
                scenario,
                family,
                contestant,
                1,
                1,
                0,
                0,
                DoubleStream.of(perSecond).boxed().toList(),
                latency,
                null,
                null,
                null);
    }
}
