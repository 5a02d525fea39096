package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.examples.Verdict.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerdictTest {

    private final Verdict verdict = new Verdict();

    @Test
    void isNotOkBeforeAnythingWasSeen() {
        assertThat(verdict.isOk()).isFalse();
        assertThat(verdict).hasToString("FLASH SALE FAILED: 0 sold, 0 oversold, 0 jvms killed, 0 stale writes refused");
    }

    @Test
    void isOkWithAllNumbersAndNothingMissing() {
        verdict.expect(true, "the deadlock");
        verdict.outcome(new Outcome(1000, 0, 1, 1));
        assertThat(verdict.isOk()).isTrue();
        assertThat(verdict).hasToString("FLASH SALE OK: 1000 sold, 0 oversold, 1 jvm killed, 1 stale write refused");
    }

    @ParameterizedTest
    @CsvSource({"999, 0, 1, 1", "1001, 1, 1, 1", "1000, 0, 0, 1", "1000, 0, 1, 0", "1000, 0, 1, 2"})
    void failsWithAnyOtherNumber(int sold, int oversold, int killed, int refused) {
        verdict.outcome(new Outcome(sold, oversold, killed, refused));
        assertThat(verdict.isOk()).isFalse();
        assertThat(verdict.toString()).startsWith("FLASH SALE FAILED: " + sold + " sold");
    }

    @Test
    void failsWithRightNumbersIfSomethingWasNotSeen() {
        verdict.expect(false, "the deadlock");
        verdict.outcome(new Outcome(1000, 0, 1, 1));
        assertThat(verdict.isOk()).isFalse();
        assertThat(verdict.toString()).startsWith("FLASH SALE FAILED: ").endsWith("; not seen: the deadlock");
    }
}
