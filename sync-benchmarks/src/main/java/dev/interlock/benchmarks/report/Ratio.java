package dev.interlock.benchmarks.report;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A figure of ours over that of a peer.
 *
 * @param value of all rounds together
 * @param least of single rounds, which are interleaved; the value where there is only one, or none
 * @param most of single rounds
 */
public record Ratio(double value, double least, double most) {

    /** Nothing if one of them wasn't measured. */
    static Optional<Ratio> of(Figure figure, Measurement ours, Measurement theirs) {
        Double mine = figure.of(ours);
        Double other = figure.of(theirs);
        if (mine == null || other == null) {
            return Optional.empty();
        }
        double value = mine / other;
        List<Double> myRounds = figure.rounds(ours);
        List<Double> otherRounds = figure.rounds(theirs);
        int rounds = Math.min(myRounds.size(), otherRounds.size());
        if (rounds < 2) {
            return Optional.of(new Ratio(value, value, value));
        }
        var single = IntStream.range(0, rounds)
                .mapToDouble(i -> myRounds.get(i) / otherRounds.get(i))
                .summaryStatistics();
        return Optional.of(new Ratio(value, single.getMin(), single.getMax()));
    }

    /** Whether single rounds lie on both sides of a bound. */
    boolean overlaps(double bound) {
        return least < bound && bound < most;
    }

    /** The value, with the spread in parentheses if it is known. */
    public String text() {
        return Numbers.ratio(value)
                + (least < most ? " (" + Numbers.ratio(least) + "–" + Numbers.ratio(most) + ")" : "");
    }
}
