package dev.interlock.examples.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ShippingIT {
    private static final Duration MAX = Duration.ofMinutes(4);

    /** No order is in two hands, though many requests at a time hold one on a few threads. */
    @Test
    @Tag("proof")
    void noOrderIsInTwoHands() {
        try (var shipping = ChildJvm.start(Shipping.class)) {
            assertThat(shipping.waitFor(MAX))
                    .describedAs("%s", shipping.lines())
                    .isZero();
            assertThat(shipping.lines())
                    .last()
                    .asString()
                    .matches("SHIPPING OK: 200 of 200 requests answered, no order was ever in two hands, "
                            + "[1-3] threads an instance");
        }
    }
}
