package dev.interlock.benchmarks.play;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.benchmarks.play.Tournament.Rules;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenarios;
import java.time.Duration;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class TournamentTest {

    /**
     * Less than what is promised, since a machine may be slower than the one on which the plan's constants were seen.
     */
    @Test
    void quickRunFitsThreeMinutesAndTheFullOneAnHour() {
        assertThat(planned(true, "", null)).isLessThan(Duration.ofSeconds(165));
        assertThat(planned(false, "", null)).isLessThan(Duration.ofMinutes(45));
    }

    @Test
    void planIsThatOfTheRules() {
        Duration one = planned(false, "^uncontended-1t", 1);
        assertThat(planned(false, "^uncontended-1t", 10)).isGreaterThan(one.multipliedBy(2));
        assertThat(planned(true, "^uncontended-1t", 1)).isLessThanOrEqualTo(one);
    }

    @Test
    void fleetsHaveToBeAskedForInAQuickRun() {
        assertThat(rules(true, "", null).scenarios()).isNotEmpty().noneMatch(Scenario::isLarge);
        assertThat(rules(true, "^fleet-200-1n", null).scenarios())
                .singleElement()
                .matches(Scenario::isLarge);
        assertThat(rules(false, "", null).scenarios()).isEqualTo(Scenarios.ALL);
    }

    private static Duration planned(boolean isQuick, String only, @Nullable Integer rounds) {
        return rules(isQuick, only, rounds).planned();
    }

    private static Rules rules(boolean isQuick, String only, @Nullable Integer rounds) {
        return new Rules("test", isQuick, Pattern.compile(only), Pattern.compile(""), rounds, null);
    }
}
