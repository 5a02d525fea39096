package dev.interlock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.interlock.benchmarks.pages.Pages;
import dev.interlock.benchmarks.report.Environment;
import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Measurement.Cost;
import dev.interlock.benchmarks.report.Measurement.Latency;
import dev.interlock.benchmarks.report.Measurement.Shares;
import dev.interlock.benchmarks.report.Measurement.Upkeep;
import dev.interlock.benchmarks.report.Results;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
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
                    one("throughput-1jvm-8t", Family.THREADS, "RLock", null, 2_345)),
            List.of(
                    one("uncontended-1t", Family.UNCONTENDED, "Interlock", latency(220), 3_333),
                    one("uncontended-1t", Family.UNCONTENDED, "round-trip", latency(100), 9_100)));

    private final StringWriter err = new StringWriter();

    @TempDir
    Path folder;

    private Path docs;

    @BeforeEach
    void makeDocs() throws IOException {
        docs = Files.createDirectory(folder.resolve("docs"));
    }

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
        var results = Results.of(RESULTS.environment(), Map.of(), List.of(full), List.of(full));
        results.write(file);
        assertThat(Results.read(file)).isEqualTo(results);
    }

    @Test
    void tablesTellWhatTheFileSays() throws IOException {
        page();
        assertThat(tables())
                .contains("| `uncontended-1t` | `Interlock` | 2,222 | 2,111 | 2,333 |")
                .contains("| `uncontended-1t` | `RLock` | 4,444 | 2,000 | 4,555 |")
                .contains("| 0.50 (0.48–1.17) |")
                .contains("`Report --quick`", "abc1234", "a JVM 17", "7.0.15", "an OS, 2 cores, load 0.5")
                .contains("| `uncontended-1t`, once more | `Interlock` | 3,333 |")
                .contains("| RLock | 4.7.0 |");
    }

    /** Of 500 samples 50 lie beyond the 90th percentile, five beyond the 99th. */
    @Test
    void percentilesOfTooFewSamplesAreNotTold() throws IOException {
        var few = new Latency(10, 20, 30, 40, 50, 500, List.of());
        Results results = Results.of(
                RESULTS.environment(),
                Map.of(),
                List.of(one("uncontended-1t", Family.UNCONTENDED, "Interlock", few, 1_000, 1_000)),
                List.of());
        Pages.write(results, docs);
        assertThat(tables())
                .contains("| p50 µs | p90 µs | max µs |")
                .contains("| `uncontended-1t` | `Interlock` | 1,000 | 1,000 | 1,000 | 10 | 20 | 50 |");
    }

    /** Results of older runs don't have what came later. */
    @Test
    void olderFilesAreRead() throws IOException {
        Path file = folder.resolve("results.json");
        RESULTS.write(file);
        var tree = (ObjectNode) new JsonMapper().readTree(file.toFile());
        tree.remove("repeated");
        tree.findParents("roundsP50Micros")
                .forEach(latency -> ((ObjectNode) latency).remove(List.of("samples", "roundsP50Micros")));
        Files.writeString(file, tree.toString());
        assertThat(Results.read(file))
                .isEqualTo(Results.of(RESULTS.environment(), RESULTS.absent(), RESULTS.measurements(), List.of()));
    }

    @Test
    void readmeQuotesTheRun() throws IOException {
        Path page = folder.resolve("README.md");
        Files.writeString(page, "before\n<!-- figures: begin -->\nolder\n<!-- figures: end -->\nafter\n");
        page();
        page();
        assertThat(Files.readString(page))
                .startsWith("before\n<!-- figures: begin -->\n![")
                .endsWith("\n\n<!-- figures: end -->\nafter\n")
                .contains("](docs/charts/throughput-threads.png)", "commit abc1234")
                .contains("| 1,234,567 | 2,345 | 526 |")
                .doesNotContain("older");
    }

    @Test
    void placeThatIsMissingIsNamed() throws IOException {
        Files.writeString(folder.resolve("README.md"), "nothing to replace\n");
        assertThatThrownBy(() -> Pages.quote(RESULTS, docs))
                .hasMessageContaining("README.md has no place")
                .hasMessageContaining("'figures'");
    }

    /** What stands in the repository is what the Report writes from the results that stand there. */
    @Test
    void committedPagesAreThoseOfTheCommittedResults() throws IOException {
        Path committed = Path.of("..", "docs");
        List<Path> pages = List.of(
                Path.of("docs/benchmarks.md"),
                Path.of("docs/benchmarks-tables.md"),
                Path.of("docs/choosing.md"),
                Path.of("README.md"));
        Files.copy(committed.resolve("jmh.json"), docs.resolve("jmh.json"));
        Files.copy(committed.resolve("choosing.md"), docs.resolve("choosing.md"));
        Files.copy(Path.of("..", "README.md"), folder.resolve("README.md"));
        Results results = Results.read(committed.resolve("benchmarks.json"));
        Pages.write(results, docs);
        Pages.quote(results, docs);
        assertThat(pages)
                .allSatisfy(page -> assertThat(folder.resolve(page))
                        .hasSameTextualContentAs(Path.of("..").resolve(page)));
        assertThat(charts(docs)).isEqualTo(charts(committed)).isNotEmpty();
    }

    private static Set<String> charts(Path docs) throws IOException {
        try (Stream<Path> files = Files.list(docs.resolve("charts"))) {
            return files.map(file -> docs.relativize(file).toString()).collect(Collectors.toSet());
        }
    }

    @Test
    void schemesAreComparedWhereThePageHasAPlaceForIt() throws IOException {
        Path page = docs.resolve("choosing.md");
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
        Results both = Results.of(later, Map.of(), List.of(anew), List.of()).onto(RESULTS);
        assertThat(both.of("uncontended-1t")).containsExactly(anew);
        assertThat(both.of("throughput-1jvm-1t")).isEqualTo(RESULTS.of("throughput-1jvm-1t"));
        assertThat(both.repeated()).isEmpty();
        assertThat(both.environment().versions()).containsOnlyKeys("RLock", "etcd");
        assertThat(both.absent()).containsOnlyKeys("etcd");
        Path file = folder.resolve("results.json");
        both.write(file);
        assertThat(Results.read(file)).isEqualTo(both);
        Pages.write(both, docs);
        assertThat(Files.readString(docs.resolve("benchmarks.md"))).contains("def5678", "earlier runs");
        assertThat(tables())
                .contains("def5678")
                .contains("| the other scenarios | `Report --quick`, commit abc1234, 2026-01-02T03:04:05Z, load 0.5 |");
    }

    @Test
    void whoIsAbsentIsListedWithTheReason() throws IOException {
        page();
        assertThat(tables()).contains("## Absent").contains("| `etcd` | no etcd is installed |");
    }

    /** Tables can't be wrapped. */
    @Test
    void linesAreNoWiderThan120Columns() throws IOException {
        assertThat(Stream.of(page(), tables()).flatMap(String::lines).filter(line -> !line.startsWith("|")))
                .anySatisfy(line -> assertThat(line).startsWith("  "))
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
    }

    /** 300 µs are three times a round trip of 100 µs, once more 220 are 2.2 times; 800,000 are 8 % of ten million. */
    @Test
    void thresholdsAreMissedFirstThenMetOrNotMeasured() throws IOException {
        String page = page();
        assertThat(page.lines())
                .anySatisfy(line -> assertThat(line)
                        .matches("\\| `uncontended-1t` \\| `round-trip` .* \\| ≤ 2.30 \\| 3.00 \\| 2.20"
                                + " \\| \\*\\*no\\*\\*, then yes \\|"))
                .anySatisfy(line -> assertThat(line)
                        .matches("\\| `contended-1jvm-8t` \\| `ReentrantLock` .* \\| 0.08 \\| – \\| yes \\|"))
                .anySatisfy(line -> assertThat(line).matches("\\| `handoff-2jvm` .* \\| not measured \\| – \\| – \\|"))
                .anySatisfy(line -> assertThat(line)
                        .matches("\\| `throughput-1jvm-8t` \\| `RLock` \\| nothing \\| – \\| 526 \\| – \\| – \\|"));
        assertThat(page).containsPattern("\\*\\*1 of \\d+ bounds are met, 2 missed, \\d+ not measured\\.\\*\\*");
        assertThat(page.substring(0, page.indexOf("<details>")))
                .contains("**no**")
                .doesNotContain("| yes |");
        assertThat(page.substring(page.indexOf("<details>")))
                .contains("| yes |")
                .doesNotContain("**no**");
    }

    /** Limits aren't beaten by anybody, so there is nothing to lose. */
    @Test
    void lossesAreToldInWords() throws IOException {
        assertThat(page()).contains("**Ahead of ours**: `RLock` (2.00 ×) in `uncontended-1t`.");
        assertThat(inOneLine(tables()))
                .contains("- `uncontended-1t`: `RLock` is 2.00 times as fast as `Interlock`"
                        + " (4,444 against 2,222 per second); ours is ahead in 1 of 3 rounds.")
                .contains(Family.UNCONTENDED.reason())
                .doesNotContain("`ReentrantLock` is", "`round-trip` is", "`throughput-1jvm-8t`: `RLock` is");
    }

    @Test
    void chartsOfWhatWasMeasuredAreDrawn() throws IOException {
        String page = page();
        assertThat(page).contains("](charts/throughput-threads.png)").doesNotContain("](charts/handoff-latency.png)");
        Path chart = docs.resolve("charts/throughput-threads.png");
        BufferedImage image = ImageIO.read(chart.toFile());
        assertThat(image.getWidth()).isEqualTo(1_400);
        assertThat(image.getHeight()).isEqualTo(800);
        assertThat(docs.resolve("charts/handoff-latency.png")).doesNotExist();
    }

    /** A peer that has no turn in half of the rounds has no dot, and its growth no end. */
    @Test
    void growthIsDrawnWhereItWasMeasured() throws IOException {
        assertThat(page()).doesNotContain("charts/growth-");
        Results results = Results.of(
                RESULTS.environment(),
                Map.of(),
                List.of(
                        one("growth-waiters-10", Family.GROWTH, "Interlock-fair", null, 3_000, 2_000, 4_000),
                        one("growth-waiters-10", Family.GROWTH, "RFairLock", null, 600, 500, 700),
                        one("growth-waiters-1000", Family.GROWTH, "Interlock-fair", null, 2_000),
                        one("growth-waiters-1000", Family.GROWTH, "RFairLock", null, 0, 0, 3),
                        one("growth-sessions-10", Family.GROWTH, "Interlock", null, 2_000),
                        one("fleet-200-1n", Family.FLEETS, "Interlock", null, 1_000),
                        one("fleet-200-1n", Family.FLEETS, "RLock", null, 0)),
                List.of());
        Pages.write(results, docs);
        assertThat(charts(docs)).containsExactlyInAnyOrder("charts/growth-waiters.png", "charts/growth-sessions.png");
        assertThat(Files.readString(docs.resolve("benchmarks.md")))
                .contains("From 10 to 1,000 threads the time of a turn grows to 1.50 × (`Interlock-fair`),"
                        + " ∞ × (`RFairLock`).")
                .contains("From 10 to 200 sessions the time of a turn grows to 2.00 × (`Interlock`).")
                .contains("| `fleet-200-1n` | `RLock` | nothing | – | ∞ | – | – |");
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
        assertThat(run("--from", results.toString(), "--jmh", jmh.toString(), "--docs", docs.toString()))
                .describedAs("%s", err)
                .isZero();
        assertThat(Files.readString(docs.resolve("benchmarks.md")))
                .contains("](charts/jmh.png)", "**Redisson is ahead** in `LockBenchmark.uncontended` (1.33 ×).");
        assertThat(tables())
                .contains("3 × 5 forks and iterations")
                .contains("| `LockBenchmark.uncontended` | `Redisson` | 8 | 300 ± 30 | us/op"
                        + " | 380 | 990 | 0 | 0.75 ± 0.11 |")
                .contains("| `LockBenchmark.contended` | `Interlock` | 8 | 8,000 ± 800 | ops/ms | – | – | 0 |  |")
                .contains("| `LockBenchmark.uncontended` | `uncontended-1t` | 0.75 ± 0.11 | 0.50 (0.48–1.17) | yes |");
        assertThat(Files.readString(docs.resolve("jmh.json"))).doesNotContain("somewhere", "Xmx1g", "rawDataHistogram");
        page();
        assertThat(tables()).contains("## JMH");
    }

    /** A look at a few scenarios must not cost the pages and charts of all others. */
    @Test
    void aCheckoutIsLeftAloneUnlessItIsToBeChanged() throws IOException {
        Path readme = folder.resolve("README.md");
        String quotes = "before\n<!-- figures: begin -->\nolder\n<!-- figures: end -->\nafter\n";
        Files.writeString(readme, quotes);
        Path results = folder.resolve("results.json");
        RESULTS.write(results);
        assertThat(run("--from", results.toString(), "--docs", docs.toString())).isZero();
        assertThat(docs.resolve("charts/throughput-threads.png")).exists();
        assertThat(readme).content().isEqualTo(quotes);

        Path choosing = Files.createFile(docs.resolve("choosing.md"));
        Files.writeString(docs.resolve("benchmarks.md"), "by a full run");
        assertThat(run("--from", results.toString(), "--docs", docs.toString())).isEqualTo(CommandLine.ExitCode.USAGE);
        assertThat(err.toString()).contains("--commit only");
        assertThat(docs.resolve("benchmarks.md")).content().isEqualTo("by a full run");
        Files.delete(choosing);
        page();
        assertThat(readme).content().doesNotContain("older");
    }

    @Test
    void aRunHasAFolderOfItsOwn() throws IOException {
        Path results = folder.resolve("results.json");
        RESULTS.write(results);
        Path own = Path.of("target", "benchmarks", "benchmarks.md");
        Files.deleteIfExists(own);
        assertThat(run("--from", results.toString())).isZero();
        assertThat(own).content().contains("abc1234");
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
        assertThat(run("--from", file.toString(), "--docs", docs.toString(), "--commit"))
                .describedAs("%s", err)
                .isZero();
        return Files.readString(docs.resolve("benchmarks.md"));
    }

    private String tables() throws IOException {
        return Files.readString(docs.resolve("benchmarks-tables.md"));
    }

    /** A paragraph or an item is wrapped on the page. */
    private static String inOneLine(String text) {
        return text.replaceAll("(?<=\\S)\n *(?=\\S)", " ");
    }

    private int run(String... args) {
        return new CommandLine(new Report()).setErr(new PrintWriter(err)).execute(args);
    }

    private static Latency latency(double p50Micros) {
        return new Latency(p50Micros, 2 * p50Micros, 3 * p50Micros, 4 * p50Micros, 5 * p50Micros, 0, List.of());
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
