package dev.interlock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Threshold;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScenariosTest {

    @Test
    void namesAreUnique() {
        assertThat(Scenarios.ALL).extracting(Scenario::name).doesNotHaveDuplicates();
    }

    @Test
    void quickRunTakesThreeMinutesAndTheFullOneThreeQuartersOfAnHour() {
        assertThat(Tournament.planned(Scenarios.ALL, true)).isLessThan(Duration.ofMinutes(3));
        assertThat(Tournament.planned(Scenarios.ALL, false)).isLessThan(Duration.ofMinutes(45));
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

    /** Where names are held and threads wait, what is told is what the children saw. */
    @Test
    void namesAreHeldAndThreadsQueue() {
        Scenario held = small("held-10000", "RLock");
        List<Measurement> upkeep = Holding.play(held, Scenario.Pace.of(200, 0, 1));
        assertThat(upkeep).extracting(Measurement::contestant).containsExactly("Interlock", "RLock");
        assertThat(upkeep)
                .allSatisfy(one -> assertThat(one.upkeep()).isNotNull().satisfies(figures -> {
                    assertThat(figures.names()).isEqualTo(1_000);
                    // So few names are lost in what a collection finds or leaves.
                    assertThat(figures.heapBytesPerName()).isBetween(-5_000.0, 50_000.0);
                }));
        String url = RedisServer.provided().url();
        assertThat(Queueing.play(small("waiting-10000", "RLock"), Scenario.Pace.of(10_000, 0, 1), url))
                .allSatisfy(one -> {
                    assertThat(one.median()).isPositive();
                    assertThat(one.latency()).isNotNull();
                });
    }

    private static Scenario small(String name, String peer) {
        Scenario scenario = Scenarios.ALL.stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
        return new Scenario(
                name,
                scenario.family(),
                Scenario.Setting.of(1, 1_000),
                scenario.measure(),
                scenario.ours(),
                List.of(peer),
                List.of(peer),
                scenario.quick(),
                scenario.full());
    }
}
