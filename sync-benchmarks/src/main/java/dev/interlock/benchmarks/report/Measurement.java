package dev.interlock.benchmarks.report;

import java.util.List;
import java.util.Set;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What one contestant did in one scenario.
 *
 * @param scenario its name
 * @param family whose it is
 * @param contestant its name
 * @param jvms that took part
 * @param threads of each of them
 * @param sectionMicros how long a thread stayed in its critical section
 * @param delayMicros what a round trip to Redis took longer than it had to
 * @param perSecond operations per second, by round
 * @param latency of single operations; null if they weren't timed
 * @param cost of an operation; null where nobody counted, or there was no Redis
 * @param shares of the threads; null if there was but one
 * @param upkeep of names that are held; null elsewhere
 */
public record Measurement(
        String scenario,
        Family family,
        String contestant,
        int jvms,
        int threads,
        long sectionMicros,
        long delayMicros,
        List<Double> perSecond,
        @Nullable Latency latency,
        @Nullable Cost cost,
        @Nullable Shares shares,
        @Nullable Upkeep upkeep) {

    /** References: no locks across JVMs. */
    private static final Set<String> LIMITS = Set.of("round-trip", "pubsub-echo", "ReentrantLock");

    /**
     * Of one operation, or of one wait.
     *
     * @param samples how many were timed; 0 in older results, which don't tell
     * @param roundsP50Micros the median of each round; empty where rounds weren't kept apart
     */
    public record Latency(
            double p50Micros,
            double p90Micros,
            double p99Micros,
            double p999Micros,
            double maxMicros,
            long samples,
            List<Double> roundsP50Micros) {

        /** With fewer samples beyond it, a percentile says nothing. */
        private static final int LEAST_BEYOND = 10;

        /** Copies the rounds, which older results don't have. */
        public Latency {
            roundsP50Micros = roundsP50Micros == null ? List.of() : List.copyOf(roundsP50Micros);
        }

        /** Whether there are samples enough for a percentile. */
        boolean supports(double percentile) {
            return samples == 0 || samples * (100 - percentile) / 100 >= LEAST_BEYOND;
        }

        /** That of what was recorded, in nanoseconds; null if nothing was. */
        public static @Nullable Latency of(Histogram nanos, List<Double> roundsP50Micros) {
            return nanos.getTotalCount() == 0
                    ? null
                    : new Latency(
                            nanos.getValueAtPercentile(50) / 1e3,
                            nanos.getValueAtPercentile(90) / 1e3,
                            nanos.getValueAtPercentile(99) / 1e3,
                            nanos.getValueAtPercentile(99.9) / 1e3,
                            nanos.getMaxValue() / 1e3,
                            nanos.getTotalCount(),
                            roundsP50Micros);
        }
    }

    /**
     * What an operation cost Redis: medians of rounds.
     *
     * @param commandsPerOperation those that scripts call included
     * @param bytesPerOperation in both directions
     */
    public record Cost(double commandsPerOperation, double bytesPerOperation) {}

    /**
     * How evenly the threads shared: 1 is what each would have had in equal parts. Medians of rounds.
     *
     * @param smallestShare of any thread
     * @param largestShare of any thread
     * @param longestWaitMicros in any round in which waits were timed; null if none was
     */
    public record Shares(
            double smallestShare,
            double largestShare,
            @Nullable Double longestWaitMicros) {}

    /** What it takes to hold many names. */
    public record Upkeep(int names, double commandsPerSecond, double bytesPerSecond, double heapBytesPerName) {}

    /** Copies the rounds. */
    public Measurement {
        perSecond = List.copyOf(perSecond);
    }

    /** Whether it is one of ours. */
    public boolean ours() {
        return contestant.startsWith("Interlock");
    }

    /** Whether it is no lock across JVMs, but a reference for one. */
    public boolean limit() {
        return LIMITS.contains(contestant);
    }

    /** The median of the rounds. */
    public double median() {
        return median(perSecond);
    }

    /** The middle value, or the mean of the two in the middle. */
    public static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
