package dev.interlock.benchmarks.pages;

import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.report.Figure;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Numbers;
import dev.interlock.benchmarks.report.Results;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Where ours is behind another lock, in words. Limits aren't locks. */
final class Losses {

    private static final List<Figure> COMPARED = List.of(
            Figure.RATE, Figure.LONGEST_WAIT, Figure.COMMANDS, Figure.RENEWALS, Figure.RENEWAL_BYTES, Figure.HEAP);

    private record Loss(Figure figure, Measurement ours, Measurement theirs, double factor) {

        static Optional<Loss> of(Figure figure, Measurement ours, Measurement theirs) {
            Double mine = figure.of(ours);
            Double other = figure.of(theirs);
            if (mine == null || other == null || !(figure.moreIsBetter() ? mine < other : mine > other)) {
                return Optional.empty();
            }
            // What the tables show as equal is no loss.
            return figure.text(ours).equals(figure.text(theirs))
                    ? Optional.empty()
                    : Optional.of(new Loss(figure, ours, theirs, figure.moreIsBetter() ? other / mine : mine / other));
        }

        String sentence() {
            String peer = "`" + theirs.contestant() + "`";
            String times = Double.isInfinite(factor) ? "infinitely many times" : Numbers.ratio(factor) + " times";
            String said = figure == Figure.RATE
                    ? peer + " is " + times + " as fast as `" + ours.contestant() + "` (" + figure.text(theirs)
                            + " against " + figure.text(ours) + " per second)"
                    : "the " + figure.words() + " of `" + ours.contestant() + "` is " + times + " that of " + peer
                            + " (" + figure.text(ours) + " against " + figure.text(theirs) + ")";
            return "`" + ours.scenario() + "`: " + said + (figure == Figure.RATE ? rounds() : "") + ".";
        }

        // Rounds are interleaved: of noise the one and the other is ahead by turns.
        private String rounds() {
            int rounds = Math.min(ours.perSecond().size(), theirs.perSecond().size());
            long won = 0;
            for (int i = 0; i < rounds; i++) {
                won += ours.perSecond().get(i) > theirs.perSecond().get(i) ? 1 : 0;
            }
            return won == 0 ? "" : "; ours is ahead in " + won + " of " + rounds + " rounds";
        }
    }

    private Losses() {}

    /** A list per family in which there is something to say, with the reason. */
    static void say(Results results, Document page) {
        boolean isAny = false;
        for (Family family : Family.values()) {
            String sentences = results.of(family).stream()
                    .map(Measurement::scenario)
                    .distinct()
                    .flatMap(scenario -> in(results, scenario, COMPARED))
                    .map(loss -> "- " + loss.sentence())
                    .collect(Collectors.joining("\n"));
            if (!sentences.isEmpty()) {
                page.say("**" + family.title() + ".** Why: " + family.reason() + ".");
                page.say(sentences);
                isAny = true;
            }
        }
        if (!isAny) {
            page.say("Nowhere, in what was measured here.");
        }
    }

    /** Who is ahead of ours in a scenario, and how many times; empty if nobody is. */
    static String ahead(Results results, String scenario, Figure figure) {
        return words(in(results, scenario, List.of(figure)));
    }

    /** Who is ahead of ours of one scenario in another one. */
    static String ahead(Results results, String scenario, String ofOthers, Figure figure) {
        return words(
                results.ours(scenario).stream().flatMap(ours -> behind(ours, results.of(ofOthers), List.of(figure))));
    }

    private static String words(Stream<Loss> losses) {
        return losses.map(loss -> "`" + loss.theirs().contestant() + "` (" + Numbers.ratio(loss.factor()) + " ×)")
                .collect(Collectors.joining(", "));
    }

    private static Stream<Loss> in(Results results, String scenario, List<Figure> figures) {
        return results.ours(scenario).stream().flatMap(ours -> behind(ours, results.of(scenario), figures));
    }

    private static Stream<Loss> behind(Measurement ours, List<Measurement> others, List<Figure> figures) {
        return others.stream()
                .filter(theirs -> !theirs.ours() && !theirs.limit())
                .flatMap(theirs -> figures.stream().flatMap(figure -> Loss.of(figure, ours, theirs).stream()));
    }
}
