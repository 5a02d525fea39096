package dev.interlock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * {@code mvn test -Psimulate -pl sync-core -Dinterlock.seed=N} prints what happens in the plan of a seed; without a
 * seed it looks for one that fails, {@code -Dinterlock.simulation.seconds} long, in fleets of 3 JVMs of 3 threads of 50
 * calls. With {@code -Dinterlock.holds=true} these use holds, with {@code -Dinterlock.elections=true} elections.
 */
@Tag("simulate")
class ReplayTest {
    @Test
    void printsWhatHappens() {
        String seed = System.getProperty("interlock.seed", "");
        Focus focus = Boolean.getBoolean("interlock.holds")
                ? Focus.HOLDS
                : Boolean.getBoolean("interlock.elections") ? Focus.ELECTIONS : Focus.NONE;
        Search search =
                new Search(seed.isEmpty() ? some -> Plan.of(some, 3, 3, 50, focus) : some -> Plan.of(some, focus));
        Search.Failure failure;
        if (seed.isEmpty()) {
            failure = search.within(1, TimeUnit.SECONDS.toNanos(Long.getLong("interlock.simulation.seconds", 30)));
            System.out.println("Simulation: " + search);
        } else {
            Plan plan = Plan.of(Long.parseLong(seed), focus);
            System.out.println(plan);
            System.out.println(Simulation.run(plan, true).trace());
            failure = search.of(plan.seed());
        }
        assertThat(failure)
                .as("the failure, in a plan that is as small as possible")
                .isNull();
    }
}
