package dev.interlock.benchmarks.report;

import java.util.List;
import java.util.Optional;

/**
 * What a run has to show.
 *
 * @param scenario where
 * @param peer against whom
 * @param figure what is compared: that of ours over that of the peer
 * @param bound the ratio: the least one where more is better, else the greatest
 * @param meaning of the bound, in words
 */
public record Threshold(String scenario, String peer, Figure figure, double bound, String meaning) {

    /** What is asked of a full run. */
    public static final List<Threshold> ALL = List.of(
            of("uncontended-1t", "RLock", Figure.RATE, 1, "as fast as RLock"),
            of("uncontended-1t", "round-trip", Figure.P50, 2 * 1.15, "median within 1.15 × two bare round trips"),
            of("handoff-2jvm", "pubsub-echo", Figure.P50, 1.5, "median within 1.5 × a bare message"),
            of("contended-1jvm-8t", "ReentrantLock", Figure.RATE, 0.05, "5 % of the JDK's lock, empty section"),
            of("section-100us-1jvm-8t", "ReentrantLock", Figure.RATE, 0.8, "80 % of the JDK's lock, section of 100 µs"),
            of("rate-bucket-1t", "RRateLimiter", Figure.RATE, 1, "as fast as RRateLimiter"),
            of("rate-bucket-1t", "Bucket4j", Figure.RATE, 1, "as fast as Bucket4j"),
            of("rate-bucket-8t", "RRateLimiter", Figure.RATE, 1, "as fast as RRateLimiter"),
            of("rate-bucket-8t", "Bucket4j", Figure.RATE, 1, "as fast as Bucket4j"),
            of("rate-prefetch-8t", "RRateLimiter", Figure.RATE, 30, "30 × RRateLimiter"));

    private static Threshold of(String scenario, String peer, Figure figure, double bound, String meaning) {
        return new Threshold(scenario, peer, figure, bound, meaning);
    }

    /** Ours over the peer's; nothing if a run has measured only one of them, or neither. */
    Optional<Double> measured(Results results) {
        return results.ours(scenario)
                .flatMap(ours -> results.of(scenario, peer).flatMap(theirs -> ratio(ours, theirs)));
    }

    private Optional<Double> ratio(Measurement ours, Measurement theirs) {
        Double mine = figure.of(ours);
        Double other = figure.of(theirs);
        return mine == null || other == null ? Optional.empty() : Optional.of(mine / other);
    }

    /** Whether a ratio is what is asked for. */
    boolean isMetBy(double ratio) {
        return figure.moreIsBetter() ? ratio >= bound : ratio <= bound;
    }

    /** The bound as text. */
    String limit() {
        return (figure.moreIsBetter() ? "≥ " : "≤ ") + Numbers.ratio(bound);
    }
}
