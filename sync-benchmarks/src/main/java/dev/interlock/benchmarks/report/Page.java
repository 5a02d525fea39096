package dev.interlock.benchmarks.report;

import dev.interlock.benchmarks.report.Charts.Drawn;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** The report: {@code benchmarks.md} with its charts. Every figure in it comes from the results. */
public final class Page {

    private static final String CHARTS = "charts";

    private final Results results;
    private final Optional<Jmh> jmh;
    private final StringBuilder text = new StringBuilder();

    private Page(Results results, Optional<Jmh> jmh) {
        this.results = results;
        this.jmh = jmh;
    }

    /** Takes over what JMH has measured, for the next {@link #write} into that folder. */
    public static void keep(Path jmh, Path docs) {
        Jmh.keep(jmh, docs);
    }

    /** Writes it into a folder, with what is kept there of JMH's. */
    public static void write(Results results, Path docs) {
        Optional<Jmh> jmh = Jmh.read(docs);
        List<Drawn> charts = Charts.draw(results, jmh, docs.resolve(CHARTS));
        Comparison.write(results, docs);
        try {
            Files.writeString(docs.resolve("benchmarks.md"), new Page(results, jmh).text(charts));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String text(List<Drawn> charts) {
        say("# Benchmarks");
        say("Written by `dev.interlock.benchmarks.Report` from what was measured, and by nobody's hand. What the"
                + " figures mean, how they come about and what they don't say: [benchmarking.md](benchmarking.md).");
        environment();
        thresholds();
        say("## Where we lose");
        say("Every scenario in which somebody is ahead of ours, by the medians.");
        say(Losses.text(results).stripTrailing());
        say("## Charts");
        charts.forEach(chart -> say("![" + chart.title() + "](" + CHARTS + "/" + chart.file() + ")"));
        say("## Figures");
        say("Medians of interleaved rounds, with the least and the greatest of them; the last column is ours over the"
                + " peer, and its spread that of single rounds.");
        for (Family family : Family.values()) {
            family(family);
        }
        jmh.ifPresent(this::jmh);
        absent();
        return text.toString().stripTrailing() + "\n";
    }

    private void environment() {
        Environment where = results.environment();
        say("## Where it was measured");
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
        table(List.of("what", "which"), rows);
    }

    private void thresholds() {
        say("## Thresholds");
        say("Ours over the peer, by medians.");
        table(
                List.of("scenario", "peer", "asked for", "bound", "measured", "met"),
                Threshold.ALL.stream().map(this::row).toList());
    }

    private List<String> row(Threshold threshold) {
        Optional<Double> measured = threshold.measured(results);
        return List.of(
                "`" + threshold.scenario() + "`",
                "`" + threshold.peer() + "`",
                threshold.meaning(),
                threshold.limit(),
                measured.map(Numbers::ratio).orElse("not measured"),
                measured.map(ratio -> threshold.isMetBy(ratio) ? "yes" : "**no**")
                        .orElse("–"));
    }

    private void family(Family family) {
        List<Measurement> all = results.of(family);
        if (all.isEmpty()) {
            return;
        }
        say("### " + family.title());
        Set<Figure> figures = EnumSet.allOf(Figure.class);
        figures.removeIf(figure -> all.stream().allMatch(one -> figure.of(one) == null));
        var headings = new ArrayList<>(List.of("scenario", "contestant"));
        headings.addAll(figures.stream()
                .map(figure -> figure == Figure.RATE ? family.operations() + " " + figure.heading() : figure.heading())
                .toList());
        headings.add("ours over it");
        table(headings, all.stream().map(one -> row(one, figures)).toList());
    }

    private List<String> row(Measurement one, Set<Figure> figures) {
        var row = new ArrayList<>(List.of("`" + one.scenario() + "`", "`" + one.contestant() + "`"));
        figures.forEach(figure -> row.add(figure.text(one)));
        row.add(
                one.ours()
                        ? ""
                        : results.ours(one.scenario())
                                .map(ours -> ratio(ours, one))
                                .orElse("–"));
        return row;
    }

    private static String ratio(Measurement ours, Measurement theirs) {
        int rounds = Math.min(ours.perSecond().size(), theirs.perSecond().size());
        var ratios = new ArrayList<Double>();
        for (int i = 0; i < rounds; i++) {
            ratios.add(ours.perSecond().get(i) / theirs.perSecond().get(i));
        }
        ratios.sort(null);
        return Numbers.ratio(ours.median() / theirs.median())
                + (rounds < 2
                        ? ""
                        : " (" + Numbers.ratio(ratios.get(0)) + "–" + Numbers.ratio(ratios.get(rounds - 1)) + ")");
    }

    private void jmh(Jmh suite) {
        say("## JMH");
        say("What the JMH suite has measured ([benchmarking.md](benchmarking.md)), "
                + suite.trials().get(0).runs()
                + " forks and iterations; errors are half of the confidence interval of 99.9 %. Bytes are those that"
                + " a thread allocates per operation, Redisson's and Netty's threads included. The score of a group is"
                + " the sum of its readers and writers.");
        table(Jmh.headings(), suite.rows());
        List<List<String>> both = suite.comparison(results);
        if (!both.isEmpty()) {
            say("### JMH beside the Scoreboard");
            say("Ours over Redisson's, in speed: JMH's with its error, the Scoreboard's with the extremes of its"
                    + " rounds. Where they don't agree, remember what differs: JMH gives each implementation JVMs of"
                    + " its own, one after the other, and half a second an iteration; the Scoreboard's take turns in"
                    + " one JVM, in rounds that meet the same disturbances.");
            table(List.of("benchmark", "scenario", "JMH", "Scoreboard", "agree"), both);
        }
    }

    private void absent() {
        if (!results.absent().isEmpty()) {
            say("## Absent");
            table(
                    List.of("who or what", "why"),
                    results.absent().entrySet().stream()
                            .map(entry -> List.of("`" + entry.getKey() + "`", entry.getValue()))
                            .toList());
        }
    }

    private void table(List<String> headings, List<List<String>> rows) {
        var table = new StringBuilder();
        table.append(Markdown.row(headings.stream()))
                .append(Markdown.row(headings.stream().map(heading -> "---")));
        rows.forEach(row -> table.append(Markdown.row(row.stream())));
        say(table.toString().stripTrailing());
    }

    private void say(String paragraph) {
        text.append(Markdown.wrapped(paragraph)).append("\n\n");
    }
}
