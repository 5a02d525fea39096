package dev.interlock.benchmarks.play;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.report.Measurement;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;

class ScoreTest {

    private static final Score SCORE = new Score(
            measurement("Interlock", 1000.4, 3000.0, 2000.0, 9000.0),
            measurement("RLock", 400.0, 500.0, 1000.0, 2000.0));

    @Test
    void medianIsTheMiddleOrTheMeanOfTheTwoInTheMiddle() {
        assertThat(Measurement.median(List.of(7.0))).isEqualTo(7);
        assertThat(Measurement.median(List.of(9.0, 1.0, 5.0))).isEqualTo(5);
        assertThat(Measurement.median(List.of(8.0, 1.0, 9.0, 2.0))).isEqualTo(5);
    }

    @Test
    void ratioIsThatOfTheMediansAndSpreadThatOfTheRounds() {
        assertThat(SCORE.ratio()).isEqualTo(2500.0 / 750.0, within(1e-9));
        assertThat(SCORE.minRatio()).isEqualTo(2);
        assertThat(SCORE.maxRatio()).isEqualTo(6);
    }

    @Test
    void lineIsTheSameInEveryLocale() {
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.GERMANY);
            assertThat(SCORE.line())
                    .isEqualTo("SCORE contended-2jvm-4t ours=2500 RLock=750 ratio=3.33 spread=2.00..6.00");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void roundsOfOursAndThePeerPairUp() {
        assertThatThrownBy(() -> new Score(measurement("Interlock", 1), measurement("RLock", 1, 2)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Score(measurement("Interlock"), measurement("RLock")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static Measurement measurement(String contestant, double... perSecond) {
        return new Measurement(
                "contended-2jvm-4t",
                Family.CONTENDED,
                contestant,
                2,
                4,
                0,
                0,
                DoubleStream.of(perSecond).boxed().toList(),
                null,
                null,
                null,
                null);
    }
}
