package dev.interlock.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Ours against one peer.
 *
 * @param scenario its name
 * @param peer its name
 * @param ours operations per second, by round
 * @param theirs the same of the peer
 * @param ourWaits in all rounds, null if they weren't timed
 * @param theirWaits the same of the peer
 */
record Score(
        String scenario,
        String peer,
        List<Double> ours,
        List<Double> theirs,
        @Nullable Waits ourWaits,
        @Nullable Waits theirWaits) {

    /**
     * How long threads waited for one section.
     *
     * @param p999Millis all but one in a thousand waited less
     * @param maxMillis the longest wait
     */
    record Waits(double p999Millis, double maxMillis) {

        static Waits of(Histogram nanos) {
            return new Waits(nanos.getValueAtPercentile(99.9) / 1e6, nanos.getMaxValue() / 1e6);
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "p99.9=%.3fms max=%.3fms", p999Millis, maxMillis);
        }
    }

    Score {
        ours = List.copyOf(ours);
        theirs = List.copyOf(theirs);
        if (ours.isEmpty() || ours.size() != theirs.size()) {
            throw new IllegalArgumentException("Want as many rounds of ours as of the peer, and at least one");
        }
    }

    /** The ratio of the medians. */
    double ratio() {
        return median(ours) / median(theirs);
    }

    /** The ratios of the single rounds. */
    List<Double> ratios() {
        return IntStream.range(0, ours.size())
                .mapToObj(i -> ours.get(i) / theirs.get(i))
                .toList();
    }

    double minRatio() {
        return ratios().stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    }

    double maxRatio() {
        return ratios().stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    }

    /** The line for standard output. */
    String line() {
        return String.format(
                Locale.ROOT,
                "SCORE %s ours=%.0f %s=%.0f ratio=%.2f spread=%.2f..%.2f",
                scenario,
                median(ours),
                peer,
                median(theirs),
                ratio(),
                minRatio(),
                maxRatio());
    }

    /** The line about waits, if they were timed. */
    Optional<String> waitLine() {
        return ourWaits == null || theirWaits == null
                ? Optional.empty()
                : Optional.of("WAIT " + scenario + " ours " + ourWaits + " " + peer + " " + theirWaits);
    }

    /** The middle value, or the mean of the two in the middle. */
    static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
