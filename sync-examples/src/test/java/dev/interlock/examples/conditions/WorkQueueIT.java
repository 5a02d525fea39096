package dev.interlock.examples.conditions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class WorkQueueIT {

    private static final Duration MAX = Duration.ofMinutes(4);

    /** All jobs are done although a worker is killed, the one that it had begun by another. */
    @Test
    @Tag("proof")
    void doesAllJobs() {
        try (var queue = ChildJvm.start(WorkQueue.class)) {
            assertThat(queue.waitFor(MAX)).describedAs("%s", queue.lines()).isZero();
            assertThat(queue.lines())
                    .last()
                    .asString()
                    .matches("WORK QUEUE OK: all 300 jobs done, and counted once each; "
                            + "1 of 3 workers killed, [01] of its jobs done by another");
        }
    }
}
