package dev.interlock.examples.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class HeatedRodIT {

    private static final Duration MAX = Duration.ofMinutes(4);

    /** A killed worker breaks the barrier for the others, who go on with another one from where all had come. */
    @Test
    @Tag("proof")
    void goesOnFromTheLastPhaseThatWasComplete() {
        try (var rod = ChildJvm.start(HeatedRod.class)) {
            assertThat(rod.waitFor(MAX)).describedAs("%s", rod.lines()).isZero();
            assertThat(rod.lines())
                    .last()
                    .asString()
                    .matches("ROD OK: 60 phases by 3 workers, gone on from phase \\d+; the heat is where it should be");
        }
    }
}
