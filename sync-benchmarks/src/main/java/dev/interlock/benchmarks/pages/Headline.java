package dev.interlock.benchmarks.pages;

import dev.interlock.benchmarks.report.Figure;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Numbers;
import dev.interlock.benchmarks.report.Results;
import java.util.ArrayList;
import java.util.List;

/** The chart and the few figures of the README. */
final class Headline {

    private static final String PEER = "RLock";

    private record Line(String words, String scenario, Figure figure) {}

    private static final List<Line> LINES = List.of(
            new Line("8 threads of one JVM, sections per second", "throughput-1jvm-8t", Figure.RATE),
            new Line("4 JVMs with 2 threads each, sections per second", "throughput-4jvm-2t", Figure.RATE),
            new Line(
                    "2 JVMs with 1 thread each that count in a file, sections per second",
                    "counter-2jvm-1t",
                    Figure.RATE),
            new Line("from release in one JVM to entry in another, µs", "handoff-2jvm", Figure.P50));

    private Headline() {}

    static String text(Results results, List<Chart> charts) {
        var text = new Document();
        charts.stream()
                .filter(chart -> chart.name().equals(Charts.THREADS))
                .forEach(chart -> text.say(chart.image("docs/")));
        var rows = new ArrayList<List<String>>();
        for (Line line : LINES) {
            results.ours(line.scenario())
                    .ifPresent(ours ->
                            results.of(line.scenario(), PEER).ifPresent(theirs -> rows.add(row(line, ours, theirs))));
        }
        text.table(List.of("median", "Interlock", "`" + PEER + "`", "ours, times as fast"), rows);
        text.say("Measured at " + Summary.place(results.environment())
                + (results.earlier().isEmpty()
                        ? ""
                        : ", or by an earlier run, which [the tables](docs/benchmarks-tables.md) name")
                + ". What was asked for, met or missed, and where others are ahead:"
                + " [docs/benchmarks.md](docs/benchmarks.md).");
        return text.text();
    }

    private static List<String> row(Line line, Measurement ours, Measurement theirs) {
        Figure figure = line.figure();
        Double mine = figure.of(ours);
        Double other = figure.of(theirs);
        return List.of(
                line.words(),
                figure.text(ours),
                figure.text(theirs),
                mine == null || other == null
                        ? "–"
                        : Numbers.ratio(figure.moreIsBetter() ? mine / other : other / mine));
    }
}
