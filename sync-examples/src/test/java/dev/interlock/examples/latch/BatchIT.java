package dev.interlock.examples.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BatchIT {

    private static final Duration MAX = Duration.ofMinutes(4);

    /** All parts are counted once although a worker is killed, and a JVM that comes later passes. */
    @Test
    @Tag("proof")
    void countsAllParts() {
        try (var batch = ChildJvm.start(Batch.class)) {
            assertThat(batch.waitFor(MAX)).describedAs("%s", batch.lines()).isZero();
            assertThat(batch.lines())
                    .last()
                    .isEqualTo("BATCH OK: 60 of 60 parts counted, 5 of them by a worker that was killed; "
                            + "the total is right, for a latecomer, too");
        }
    }
}
