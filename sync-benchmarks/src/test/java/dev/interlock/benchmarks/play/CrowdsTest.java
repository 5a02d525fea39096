package dev.interlock.benchmarks.play;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.benchmarks.scenarios.Scenarios;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Timely
@Tag("proof")
class CrowdsTest {

    /** Where names are held and threads wait, what is told is what the children saw. */
    @Test
    void namesAreHeldAndThreadsQueue() {
        Scenario held = small("held-10000", "RLock");
        List<Measurement> upkeep = Holding.play(held, new Pace(Duration.ofMillis(200), 0, 1));
        assertThat(upkeep).extracting(Measurement::contestant).containsExactly("Interlock", "RLock");
        assertThat(upkeep)
                .allSatisfy(one -> assertThat(one.upkeep()).isNotNull().satisfies(figures -> {
                    assertThat(figures.names()).isEqualTo(1_000);
                    // So few names are lost in what a collection finds or leaves.
                    assertThat(figures.heapBytesPerName()).isBetween(-5_000.0, 50_000.0);
                }));
        String url = RedisServer.provided().url();
        Scenario waiting = small("waiting-10000", "RLock");
        // On a busy machine some of a peer's threads may give up.
        assertThat(Queueing.play(waiting, new Pace(Duration.ofSeconds(10), 0, 1), url, (contestant, remark) -> {}))
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
