package dev.interlock.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Where ours is behind somebody, in words. */
final class Losses {

    private static final List<Figure> COMPARED = List.of(
            Figure.RATE, Figure.LONGEST_WAIT, Figure.COMMANDS, Figure.RENEWALS, Figure.RENEWAL_BYTES, Figure.HEAP);

    /** Limits that no lock across JVMs can beat. */
    private static final Set<String> LIMITS = Set.of("round-trip", "pubsub-echo", "ReentrantLock");

    private Losses() {}

    /** A list per family in which there is something to say, with the reason. */
    static String text(Results results) {
        var text = new StringBuilder();
        for (Family family : Family.values()) {
            List<String> sentences = sentences(results, family);
            if (!sentences.isEmpty()) {
                text.append("**")
                        .append(family.title())
                        .append(".** Why: ")
                        .append(family.reason())
                        .append(".\n\n");
                sentences.forEach(sentence -> text.append("- ").append(sentence).append('\n'));
                text.append('\n');
            }
        }
        return text.isEmpty() ? "Nowhere, in what was measured here.\n" : text.toString();
    }

    private static List<String> sentences(Results results, Family family) {
        var sentences = new ArrayList<String>();
        List<Measurement> all = results.of(family);
        for (Measurement theirs : all) {
            if (!theirs.ours()) {
                results.ours(theirs.scenario())
                        .ifPresent(ours -> COMPARED.forEach(figure -> add(sentences, figure, ours, theirs)));
            }
        }
        return sentences;
    }

    private static void add(List<String> sentences, Figure figure, Measurement ours, Measurement theirs) {
        Double mine = figure.of(ours);
        Double other = figure.of(theirs);
        if (mine == null || other == null || !(figure.moreIsBetter() ? mine < other : mine > other)) {
            return;
        }
        // What the tables show as equal is no loss.
        if (!figure.text(ours).equals(figure.text(theirs))) {
            sentences.add(sentence(figure, ours, theirs, figure.moreIsBetter() ? other / mine : mine / other));
        }
    }

    private static String sentence(Figure figure, Measurement ours, Measurement theirs, double factor) {
        String peer = (LIMITS.contains(theirs.contestant()) ? "the limit " : "") + "`" + theirs.contestant() + "`";
        String times = Double.isInfinite(factor) ? "infinitely many times" : Numbers.ratio(factor) + " times";
        String said = figure == Figure.RATE
                ? peer + " is " + times + " as fast as `" + ours.contestant() + "` (" + figure.text(theirs)
                        + " against " + figure.text(ours) + " per second)"
                : "the " + figure.words() + " of `" + ours.contestant() + "` is " + times + " that of " + peer + " ("
                        + figure.text(ours) + " against " + figure.text(theirs) + ")";
        return "`" + ours.scenario() + "`: " + said + (figure == Figure.RATE ? noise(ours, theirs) : "") + ".";
    }

    // Rounds are interleaved: of noise the one and the other is ahead by turns.
    private static String noise(Measurement ours, Measurement theirs) {
        int rounds = Math.min(ours.perSecond().size(), theirs.perSecond().size());
        long won = 0;
        for (int i = 0; i < rounds; i++) {
            won += ours.perSecond().get(i) > theirs.perSecond().get(i) ? 1 : 0;
        }
        return won == 0 ? "" : "; ours is ahead in " + won + " of " + rounds + " rounds";
    }
}
