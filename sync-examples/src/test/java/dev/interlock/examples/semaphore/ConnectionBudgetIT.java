package dev.interlock.examples.semaphore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ConnectionBudgetIT {

    private static final Duration MAX = Duration.ofMinutes(4);

    /** The database never has to refuse a connection, and a killed JVM's share comes back. */
    @Test
    @Tag("proof")
    void staysWithinTheBudget() {
        try (var budget = ChildJvm.start(ConnectionBudget.class)) {
            assertThat(budget.waitFor(MAX)).describedAs("%s", budget.lines()).isZero();
            assertThat(budget.lines())
                    .last()
                    .asString()
                    .matches("BUDGET OK: 960 of 960 queries answered, 0 connections refused, [1-6] of 6 at most; "
                            + "all permits are back");
        }
    }
}
