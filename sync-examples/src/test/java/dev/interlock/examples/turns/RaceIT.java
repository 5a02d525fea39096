package dev.interlock.examples.turns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RaceIT {

    private static final Duration MAX = Duration.ofMinutes(3);

    /** Neither lock loses an update, and both get somewhere. Which one is faster isn't for a test to say. */
    @Test
    @Tag("proof")
    void numbersInTheFilesAreThoseOfTheSections() {
        try (var race = ChildJvm.of(Race.class).arguments("50").start()) {
            assertThat(race.waitFor(MAX)).describedAs("%s", race.lines()).isZero();
            assertThat(race.lines())
                    .last()
                    .asString()
                    .matches("RACE OK: [1-9][\\d,]* sections with Interlock \\(.*\\), [1-9][\\d,]* sections with RLock"
                            + " \\(.*\\): [\\d.]+ times as many; the numbers in the files are right");
        }
    }
}
