package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Quorum locks in plans that are made for them. */
class QuorumSimulationTest {
    private static final long MILLI = 1_000_000;

    private static Plan plan(Fault... faults) {
        List<List<Op>> threads =
                Collections.nCopies(2, Collections.nCopies(20, new Op(Call.LOCK, 0, 5 * MILLI, 3 * MILLI, 0)));
        return new Plan(
                1,
                List.of(Kind.QUORUM_LOCK),
                Collections.nCopies(3, 10_000L),
                300,
                10 * MILLI,
                Collections.nCopies(3, threads),
                List.of(faults));
    }

    @ParameterizedTest
    @EnumSource(names = {"DOWN", "RESTART", "REFUSAL"})
    void aNodeThatIsAwayFailsNoCall(Fault.Kind kind) {
        Simulation.Outcome outcome = Simulation.run(plan(new Fault(kind, 1, 50 * MILLI, 2_000 * MILLI)), true);
        assertThat(outcome.violation()).isNull();
        assertThat(outcome.entries()).isEqualTo(3 * 2 * 20);
        assertThat(outcome.trace().toString()).doesNotContain("fails by dev.interlock");
    }

    @Test
    void nodesForgetEverythingInTheEnd() {
        assertThat(Simulation.run(plan(), false).violation()).isNull();
    }
}
