package dev.interlock.benchmarks.pages;

import dev.interlock.benchmarks.report.Environment;
import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.report.Figure;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Ratio;
import dev.interlock.benchmarks.report.Results;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** The page with all figures. */
final class Tables {

    private final Results results;
    private final Document page = new Document();

    private Tables(Results results) {
        this.results = results;
    }

    static String text(Results results, Optional<Jmh> jmh) {
        var tables = new Tables(results);
        tables.page.say("# Benchmarks: all figures");
        tables.page.say("Written by `dev.interlock.benchmarks.Report`, as [benchmarks.md](benchmarks.md), which has"
                + " what matters. How the figures come about: [benchmarking.md](benchmarking.md).");
        tables.environment();
        tables.page.say("## Where we lose");
        tables.page.say("Every scenario in which another lock is ahead of ours, by the medians.");
        Losses.say(results, tables.page);
        tables.page.say("## Figures");
        tables.page.say("Medians of interleaved rounds, with the least and the greatest of them; the last column is"
                + " ours over the peer, and its spread that of single rounds. A percentile has ten samples beyond it at"
                + " least, or a dash.");
        for (Family family : Family.values()) {
            tables.family(family);
        }
        jmh.ifPresent(tables::jmh);
        tables.absent();
        return tables.page.text();
    }

    private void environment() {
        Environment where = results.environment();
        page.say("## Where it was measured");
        var rows = new ArrayList<List<String>>();
        rows.add(List.of("command", "`" + where.command() + "`"));
        rows.add(List.of("commit", where.commit() == null ? "unknown" : where.commit()));
        rows.add(List.of("date", where.date()));
        rows.add(List.of("JVM", where.jdk()));
        rows.add(List.of("Redis", where.redis()));
        rows.add(List.of(
                "machine",
                String.format(
                        Locale.ROOT,
                        "%s, %d cores, load %.1f before the run",
                        where.os(),
                        where.cores(),
                        where.load())));
        results.earlier()
                .forEach(run -> rows.add(List.of(
                        "the other scenarios",
                        String.format(
                                Locale.ROOT,
                                "`%s`, commit %s, %s, load %.1f",
                                run.command(),
                                run.commit(),
                                run.date(),
                                run.load()))));
        where.versions().forEach((peer, version) -> rows.add(List.of(peer, version)));
        page.table(List.of("what", "which"), rows);
    }

    private void family(Family family) {
        List<Measurement> all = results.of(family);
        if (all.isEmpty()) {
            return;
        }
        page.say("### " + family.title());
        Set<Figure> figures = EnumSet.allOf(Figure.class);
        figures.removeIf(figure -> all.stream().allMatch(one -> figure.of(one) == null));
        var headings = new ArrayList<>(List.of("scenario", "contestant"));
        headings.addAll(figures.stream()
                .map(figure -> figure == Figure.RATE ? family.operations() + " " + figure.heading() : figure.heading())
                .toList());
        headings.add("ours over it");
        page.table(
                headings,
                Stream.concat(rows(results, family, "", figures), rows(results.again(), family, ", once more", figures))
                        .toList());
    }

    private static Stream<List<String>> rows(Results run, Family family, String remark, Set<Figure> figures) {
        return run.of(family).stream().map(one -> {
            var row = new ArrayList<>(List.of("`" + one.scenario() + "`" + remark, "`" + one.contestant() + "`"));
            figures.forEach(figure -> row.add(figure.text(one)));
            row.add(
                    one.ours()
                            ? ""
                            : run.ratio(one.scenario(), one.contestant(), Figure.RATE)
                                    .map(Ratio::text)
                                    .orElse("–"));
            return row;
        });
    }

    private void jmh(Jmh suite) {
        page.say("## JMH");
        page.say("What the JMH suite has measured ([benchmarking.md](benchmarking.md)), "
                + suite.trials().get(0).runs()
                + " forks and iterations; errors are half of the confidence interval of 99.9 %. Bytes are those that"
                + " a thread allocates per operation, Redisson's and Netty's threads included. The score of a group is"
                + " the sum of its readers and writers.");
        page.table(Jmh.headings(), suite.rows());
        List<List<String>> both = suite.comparison(results);
        if (!both.isEmpty()) {
            page.say("### JMH beside the Scoreboard");
            page.say("Ours over Redisson's, in speed: JMH's with its error, the Scoreboard's with the spread of its"
                    + " rounds. Where they don't agree, remember what differs: JMH gives each implementation JVMs of"
                    + " its own, one after the other, and half a second an iteration; the Scoreboard's take turns in"
                    + " one JVM, in rounds that meet the same disturbances.");
            page.table(List.of("benchmark", "scenario", "JMH", "Scoreboard", "agree"), both);
        }
    }

    private void absent() {
        if (!results.absent().isEmpty()) {
            page.say("## Absent");
            page.table(
                    List.of("who or what", "why"),
                    results.absent().entrySet().stream()
                            .map(entry -> List.of("`" + entry.getKey() + "`", entry.getValue()))
                            .toList());
        }
    }
}
