package dev.interlock.benchmarks.report;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

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
            of("uncontended-1t", "RLock", Figure.RATE, 500, "500 × RLock"),
            of("uncontended-new-names-1t", "RLock-new-names", Figure.RATE, 1, "as fast as RLock, on names never used"),
            of("delay-2ms-new-names-1t", "RLock-new-names", Figure.RATE, 1.6, "1.6 × RLock; two is the limit"),
            of("alternate-2jvm", "at-once-now-and-then", Figure.P99, 1.1, "p99 within 1.1 × that without retention"),
            of("trylock-storm", "Interlock", Figure.RATE, 0.8, "80 % of what it is without the storm"),
            of("viewed-1jvm-8t", "Interlock", Figure.RATE, 0.9, "90 % of what it is when nobody looks"),
            of("viewed-new-names-1t", "Interlock-new-names", Figure.RATE, 0.9, "90 % of what it is when nobody looks"),
            of("metered-retained-1t", "Interlock-retaining", Figure.RATE, 0.9, "90 % of what it is without meters"),
            of("metered-1jvm-8t", "Interlock", Figure.RATE, 0.9, "90 % of what it is without meters"),
            of("uncontended-1t", "round-trip", Figure.P50, 2 * 1.15, "median within 1.15 × two bare round trips"),
            of("uncontended-retained-1t", "RLock", Figure.RATE, 500, "500 × RLock"),
            of("handoff-2jvm", "pubsub-echo", Figure.P50, 1.6, "median within 1.6 × a bare message"),
            of("fair-handoff-2jvm-1t", "pubsub-echo", Figure.RATE, 1 / 1.6, "time within 1.6 × a bare message"),
            of("fair-handoff-2jvm-1t", "RFairLock", Figure.RATE, 2.5, "2.5 × RFairLock"),
            of("fair-handoff-2jvm-1t", "RLock", Figure.RATE, 1.2, "1.2 × RLock"),
            of("contended-1jvm-8t", "RLock", Figure.RATE, 100, "100 × RLock"),
            of("contended-1jvm-8t", "ReentrantLock", Figure.RATE, 0.05, "5 % of the JDK's lock, empty section"),
            of("section-100us-1jvm-8t", "ReentrantLock", Figure.RATE, 0.8, "80 % of the JDK's lock, section of 100 µs"),
            of("contended-2jvm-4t", "RLock", Figure.RATE, 30, "30 × RLock"),
            of("counter-2jvm-1t", "RLock", Figure.RATE, 10, "10 × RLock, a number in a file"),
            of("throughput-2jvm-1t", "RLock", Figure.RATE, 10, "10 × RLock, empty section"),
            of("think-200us-2jvm-1t", "RLock", Figure.RATE, 3, "3 × RLock, a pause of 200 µs between two sections"),
            of("fair-1jvm-8t", "RFairLock", Figure.RATE, 10, "10 × RFairLock"),
            of("fair-4jvm-4t", "RFairLock", Figure.RATE, 3, "3 × RFairLock"),
            of("condition-pingpong-2jvm", "pubsub-echo", Figure.RATE, 0.33, "a third of bare messages"),
            of("read-uncontended-1t", "RReadWriteLock", Figure.RATE, 1, "as fast as RReadWriteLock"),
            of("read-1jvm-8t", "RReadWriteLock", Figure.RATE, 100, "100 × RReadWriteLock"),
            of("rw-90-10-2jvm-4t", "RReadWriteLock", Figure.RATE, 10, "10 × RReadWriteLock"),
            of("semaphore-1jvm-8t-4p", "RSemaphore", Figure.RATE, 20, "20 × RSemaphore"),
            of("semaphore-2jvm-4t-4p", "RSemaphore", Figure.RATE, 3, "3 × RSemaphore"),
            of("rate-bucket-1t", "RRateLimiter", Figure.RATE, 1, "as fast as RRateLimiter"),
            of("rate-bucket-1t", "Bucket4j", Figure.RATE, 1, "as fast as Bucket4j"),
            of("rate-bucket-8t", "RRateLimiter", Figure.RATE, 1, "as fast as RRateLimiter"),
            of("rate-bucket-8t", "Bucket4j", Figure.RATE, 1, "as fast as Bucket4j"),
            of("rate-prefetch-8t", "RRateLimiter", Figure.RATE, 30, "30 × RRateLimiter"));

    private static Threshold of(String scenario, String peer, Figure figure, double bound, String meaning) {
        return new Threshold(scenario, peer, figure, bound, meaning);
    }

    /** The scenarios of which some rounds meet what is asked for and others don't. */
    public static Set<String> unclear(Results results) {
        return ALL.stream()
                .filter(threshold -> threshold
                        .measured(results)
                        .filter(ratio -> ratio.overlaps(threshold.bound))
                        .isPresent())
                .map(Threshold::scenario)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Ours over the peer's; nothing if a run has measured only one of them, or neither. */
    public Optional<Ratio> measured(Results results) {
        return results.ratio(scenario, peer, figure);
    }

    /** Whether a ratio is what is asked for. */
    public boolean isMetBy(Ratio ratio) {
        return figure.moreIsBetter() ? ratio.value() >= bound : ratio.value() <= bound;
    }

    /** The bound as text. */
    public String limit() {
        return (figure.moreIsBetter() ? "≥ " : "≤ ") + Numbers.ratio(bound);
    }
}
