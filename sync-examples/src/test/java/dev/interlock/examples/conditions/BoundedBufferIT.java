package dev.interlock.examples.conditions;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("proof")
class BoundedBufferIT {

    private static final Duration MAX = Duration.ofMinutes(4);

    /** Every loaf is sold once, those of a bakery in order, and the shelf is never overfull. */
    @Test
    void sellsEveryLoafOnce() {
        try (var buffer = ChildJvm.start(BoundedBuffer.class)) {
            assertThat(buffer.waitFor(MAX)).describedAs("%s", buffer.lines()).isZero();
            assertThat(buffer.lines())
                    .last()
                    .asString()
                    .matches("BOUNDED BUFFER OK: 200 loaves of 2 JVMs sold once each by 2 others in order, "
                            + "never more than [1-5] on the shelf");
        }
    }
}
