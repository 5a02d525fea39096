package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Measurement.Latency;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Ours against one peer.
 *
 * @param ours what ours did
 * @param theirs what the peer did, in the same rounds
 */
record Score(Measurement ours, Measurement theirs) {

    Score {
        if (ours.perSecond().isEmpty()
                || ours.perSecond().size() != theirs.perSecond().size()) {
            throw new IllegalArgumentException("Want as many rounds of ours as of the peer, and at least one");
        }
    }

    /** Those of a scenario, ours being its first measurement. */
    static List<Score> of(List<Measurement> scenario) {
        return scenario.stream()
                .skip(1)
                .map(peer -> new Score(scenario.get(0), peer))
                .toList();
    }

    /** The ratio of the medians. */
    double ratio() {
        return ours.median() / theirs.median();
    }

    /** The ratios of the single rounds. */
    List<Double> ratios() {
        return IntStream.range(0, ours.perSecond().size())
                .mapToObj(i -> ours.perSecond().get(i) / theirs.perSecond().get(i))
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
                ours.scenario(),
                ours.median(),
                theirs.contestant(),
                theirs.median(),
                ratio(),
                minRatio(),
                maxRatio());
    }

    /** The line about waits, if they were timed. */
    Optional<String> waitLine() {
        return ours.latency() == null || theirs.latency() == null
                ? Optional.empty()
                : Optional.of("WAIT " + ours.scenario() + " ours " + text(ours.latency()) + " " + theirs.contestant()
                        + " " + text(theirs.latency()));
    }

    private static String text(Latency waits) {
        return String.format(
                Locale.ROOT,
                "p50=%.1fus p99.9=%.1fus max=%.1fus",
                waits.p50Micros(),
                waits.p999Micros(),
                waits.maxMicros());
    }
}
