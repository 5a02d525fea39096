package dev.interlock.benchmarks.contestants;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class TapTest {

    private static final int TAKEN = 500;

    private final Ledger ledger = new Ledger(Ledger.page(), 100, 0);

    /** So few come in the time of a test that those taken would be missed. */
    @Test
    void tokensThatNobodyMissesAreFound() {
        var tap = new Tap(() -> true, () -> 1_000_000);
        take(tap);
        assertThatThrownBy(tap::end)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageEndingWith("but 1000000 are left");
    }

    @Test
    void tokensThatAreMissedAreInOrder() {
        var left = new AtomicLong(1_000_000);
        var tap = new Tap(() -> left.decrementAndGet() > 0, left::get);
        take(tap);
        assertThatCode(tap::end).doesNotThrowAnyException();
    }

    @Test
    void refusalIsNoOperation() {
        assertThat(new Tap(() -> false, null).once(ledger)).isFalse();
    }

    private void take(Tap tap) {
        for (int i = 0; i < TAKEN; i++) {
            assertThat(tap.once(ledger)).isTrue();
        }
    }
}
