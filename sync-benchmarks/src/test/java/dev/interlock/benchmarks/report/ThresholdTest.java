package dev.interlock.benchmarks.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.benchmarks.report.Measurement.Latency;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ThresholdTest {

    private static final Environment SOMEWHERE =
            new Environment("today", null, "Report", "a JVM", "7.0.15", Map.of(), "an OS", 2, 0.1);

    private static Measurement one(String scenario, String contestant, @Nullable Latency latency, Double... perSecond) {
        return new Measurement(
                scenario, Family.CONTENDED, contestant, 2, 4, 0, 0, List.of(perSecond), latency, null, null, null);
    }

    private static Latency latency(double p50Micros, Double... rounds) {
        return new Latency(p50Micros, 0, 0, 0, 0, 1_000, List.of(rounds));
    }

    /** Asked for is three times as fast: one is so in one of two rounds, the other one in both. */
    @Test
    void scenariosAreUnclearWhereRoundsDiffer() {
        Results results = Results.of(
                SOMEWHERE,
                Map.of(),
                List.of(
                        one("semaphore-2jvm-4t-4p", "Interlock-semaphore", null, 8.0, 14.0),
                        one("semaphore-2jvm-4t-4p", "RSemaphore", null, 4.0, 4.0),
                        one("fair-4jvm-4t", "Interlock-fair", null, 13.0, 14.0),
                        one("fair-4jvm-4t", "RFairLock", null, 4.0, 4.0)),
                List.of());
        assertThat(Threshold.unclear(results)).containsExactly("semaphore-2jvm-4t-4p");
    }

    /** Asked for is at most 1.6 times the time. */
    @Test
    void timesAreComparedRoundByRound() {
        Results results = Results.of(
                SOMEWHERE,
                Map.of(),
                List.of(
                        one("handoff-2jvm", "Interlock", latency(150, 140.0, 170.0), 1.0, 1.0),
                        one("handoff-2jvm", "pubsub-echo", latency(100, 100.0, 100.0), 1.0, 1.0)),
                List.of());
        assertThat(results.ratio("handoff-2jvm", "pubsub-echo", Figure.P50)).contains(new Ratio(1.5, 1.4, 1.7));
        assertThat(Threshold.unclear(results)).containsExactly("handoff-2jvm");
        assertThat(Threshold.ALL)
                .filteredOn(threshold -> threshold.scenario().equals("handoff-2jvm"))
                .allSatisfy(threshold ->
                        assertThat(threshold.isMetBy(new Ratio(1.5, 1.4, 1.7))).isTrue());
    }

    @Test
    void oneRoundHasNoSpread() {
        Results results = Results.of(
                SOMEWHERE,
                Map.of(),
                List.of(one("fair-4jvm-4t", "Interlock-fair", null, 12.0), one("fair-4jvm-4t", "RFairLock", null, 4.0)),
                List.of());
        assertThat(results.ratio("fair-4jvm-4t", "RFairLock", Figure.RATE))
                .hasValueSatisfying(ratio -> assertThat(ratio.text()).isEqualTo("3.00"));
        assertThat(Threshold.unclear(results)).isEmpty();
    }
}
