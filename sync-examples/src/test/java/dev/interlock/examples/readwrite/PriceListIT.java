package dev.interlock.examples.readwrite;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class PriceListIT {

    private static final Duration MAX = Duration.ofMinutes(4);

    /** Every edition stays as it is until all have read it, and nobody sees half of one. */
    @Test
    @Tag("proof")
    void showsWholeEditionsToAll() {
        try (var prices = ChildJvm.start(PriceList.class)) {
            assertThat(prices.waitFor(MAX)).describedAs("%s", prices.lines()).isZero();
            assertThat(prices.lines())
                    .last()
                    .asString()
                    .matches("PRICE LIST OK: 25 of 25 editions intact and read by all 3 JVMs; "
                            + "[\\d,]+ look-ups hit, 0 found half a refresh");
        }
    }
}
