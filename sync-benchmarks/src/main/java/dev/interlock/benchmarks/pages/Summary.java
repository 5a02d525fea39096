package dev.interlock.benchmarks.pages;

import com.google.common.collect.Lists;
import dev.interlock.benchmarks.report.Environment;
import dev.interlock.benchmarks.report.Figure;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Ratio;
import dev.interlock.benchmarks.report.Results;
import dev.interlock.benchmarks.report.Threshold;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The page for who has a minute: what was asked for and what came of it, and the charts. */
final class Summary {

    private static final List<String> HEADINGS =
            List.of("scenario", "peer", "asked for", "bound", "measured", "once more", "met");

    private final Results results;
    private final Document page = new Document();

    /** What a bound met with, at first and once more. */
    private record Outcome(Threshold threshold, Optional<Ratio> first, Optional<Ratio> again) {

        boolean isMissed() {
            return Stream.of(first, again).flatMap(Optional::stream).anyMatch(ratio -> !threshold.isMetBy(ratio));
        }

        boolean isMet() {
            return first.isPresent() && !isMissed();
        }

        List<String> row() {
            return List.of(
                    "`" + threshold.scenario() + "`",
                    "`" + threshold.peer() + "`",
                    threshold.meaning(),
                    threshold.limit(),
                    first.map(Ratio::text).orElse("not measured"),
                    again.map(Ratio::text).orElse("–"),
                    first.map(this::met).orElse("–")
                            + again.map(ratio -> ", then " + met(ratio)).orElse(""));
        }

        private String met(Ratio ratio) {
            return threshold.isMetBy(ratio) ? "yes" : "**no**";
        }
    }

    private Summary(Results results) {
        this.results = results;
    }

    static String text(Results results, List<Chart> charts) {
        return new Summary(results).text(charts);
    }

    /** Of what, when and where. */
    static String place(Environment where) {
        return "commit " + (where.commit() == null ? "unknown" : where.commit()) + ", " + where.date() + ", "
                + where.jdk() + ", Redis " + where.redis() + ", " + where.os() + ", " + where.cores() + " cores";
    }

    private String text(List<Chart> charts) {
        page.say("# Benchmarks");
        page.say("Written by `dev.interlock.benchmarks.Report` from [benchmarks.json](benchmarks.json), and by nobody's"
                + " hand: " + place(results.environment()) + ". What the figures mean and how they come about:"
                + " [benchmarking.md](benchmarking.md). All figures, with versions, spread and all losses:"
                + " [benchmarks-tables.md](benchmarks-tables.md)"
                + (results.earlier().isEmpty() ? "." : ", which also names the earlier runs of some scenarios."));
        page.say("## What was asked for");
        List<Outcome> outcomes = Threshold.ALL.stream()
                .map(threshold ->
                        new Outcome(threshold, threshold.measured(results), threshold.measured(results.again())))
                .toList();
        List<Outcome> missed = outcomes.stream().filter(Outcome::isMissed).toList();
        long met = outcomes.stream().filter(Outcome::isMet).count();
        long unknown = outcomes.size() - met - missed.size();
        page.say("**" + met + " of " + outcomes.size() + " bounds are met, " + missed.size() + " missed"
                + (unknown == 0 ? "" : ", " + unknown + " not measured")
                + ".** Ours over the peer, by medians, with the spread of single rounds."
                + (results.repeated().isEmpty()
                        ? ""
                        : " Where the spread overlaps the bound, the scenario was played once more."));
        if (!missed.isEmpty()) {
            page.table(HEADINGS, missed.stream().map(Outcome::row).toList());
        }
        page.say("<details>\n<summary>The other bounds, and the scenarios without one</summary>");
        page.table(
                HEADINGS,
                Stream.concat(
                                outcomes.stream()
                                        .filter(outcome -> !outcome.isMissed())
                                        .map(Outcome::row),
                                unbounded())
                        .toList());
        page.say("</details>");
        charts(charts);
        return page.text();
    }

    /** Scenarios of which nothing was asked: ours over the first peer. */
    private Stream<List<String>> unbounded() {
        return results.measurements().stream()
                .map(Measurement::scenario)
                .distinct()
                .filter(scenario -> Threshold.ALL.stream()
                        .noneMatch(threshold -> threshold.scenario().equals(scenario)))
                .flatMap(scenario -> results.of(scenario).stream().skip(1).limit(1))
                .map(peer -> List.of(
                        "`" + peer.scenario() + "`",
                        "`" + peer.contestant() + "`",
                        "nothing",
                        "–",
                        results.ratio(peer.scenario(), peer.contestant(), Figure.RATE)
                                .map(Ratio::text)
                                .orElse("–"),
                        "–",
                        "–"));
    }

    private void charts(List<Chart> charts) {
        page.say("## What it looks like");
        page.say("Dots are medians; whiskers reach to the 90th percentile of times, or from the slowest to the fastest"
                + " round in which anything was done. Dashed lines are references: the JDK's lock of one JVM, and"
                + " round trips and bare messages through Redis. The text names every contestant that is faster than"
                + " ours, even one that the chart leaves out.");
        for (List<Chart> pair : Lists.partition(charts, 2)) {
            page.table(
                    pair.stream().map(Chart::title).toList(),
                    List.of(
                            pair.stream().map(Chart::image).toList(),
                            pair.stream().map(Chart::meaning).toList()));
        }
    }
}
