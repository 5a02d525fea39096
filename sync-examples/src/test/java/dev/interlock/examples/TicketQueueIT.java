package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class TicketQueueIT {

    private static final Duration MAX = Duration.ofMinutes(4);

    /** Who came first is served first, whichever JVM he comes from. */
    @Test
    void servesInTheOrderOfArrival() {
        try (var queue = ChildJvm.start(TicketQueue.class)) {
            assertThat(queue.waitFor(MAX)).describedAs("%s", queue.lines()).isZero();
            assertThat(queue.lines())
                    .last()
                    .isEqualTo("TICKET QUEUE OK: 12 customers of 3 JVMs were served in the order in which they came");
        }
    }
}
