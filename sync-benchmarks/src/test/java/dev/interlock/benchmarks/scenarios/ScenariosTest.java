package dev.interlock.benchmarks.scenarios;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.benchmarks.report.Threshold;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScenariosTest {

    @Test
    void namesAreUnique() {
        assertThat(Scenarios.ALL).extracting(Scenario::name).doesNotHaveDuplicates();
    }

    /** A threshold that no scenario measures would never be missed. */
    @Test
    void everyThresholdIsMeasured() {
        assertThat(Threshold.ALL)
                .isNotEmpty()
                .allSatisfy(threshold -> assertThat(Scenarios.ALL)
                        .anySatisfy(scenario -> assertThat(threshold.scenario()).isEqualTo(scenario.name()))
                        .filteredOn(scenario -> scenario.name().equals(threshold.scenario()))
                        .singleElement()
                        .satisfies(scenario -> assertThat(scenario.peers()).contains(threshold.peer())));
    }

    @Test
    void whoIsAbsentIsLeftOut() {
        Scenario scenario = Scenarios.ALL.get(0).cast(false, peer -> !peer.equals("etcd"));
        assertThat(scenario.contestants())
                .contains("RLock")
                .doesNotContain("etcd")
                .startsWith("Interlock");
    }

    /** A quick run has each of the scenarios, and each of the peers somewhere. */
    @Test
    void quickRunShowsEverybody() {
        List<String> quick = Scenarios.ALL.stream()
                .flatMap(scenario -> scenario.cast(true, peer -> true).contestants().stream())
                .toList();
        assertThat(quick)
                .containsAll(Scenarios.ALL.stream()
                        .flatMap(scenario -> scenario.contestants().stream())
                        .toList());
    }
}
