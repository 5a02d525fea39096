package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** {@code mvn test -Psimulate -pl sync-core -Dinterlock.seed=N} prints what happens in the plan of a seed. */
@Tag("simulate")
class ReplayTest {
    @Test
    void printsTheTraceOfASeed() {
        String seed = System.getProperty("interlock.seed", "");
        assumeTrue(!seed.isEmpty(), "no -Dinterlock.seed");
        Plan plan = Plan.of(Long.parseLong(seed));
        Simulation.Outcome outcome = Simulation.run(plan, true);
        System.out.println(plan);
        System.out.println(outcome.trace());
        if (outcome.violation() != null) {
            System.out.println(new Search(Plan::of).of(plan.seed()));
        }
        assertThat(outcome.violation()).isNull();
    }
}
