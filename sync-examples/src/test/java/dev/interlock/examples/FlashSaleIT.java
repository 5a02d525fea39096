package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class FlashSaleIT {

    private static final Duration MAX = Duration.ofMinutes(5);

    private record Run(List<String> lines, int exitCode) {
        String lastLine() {
            return lines.get(lines.size() - 1);
        }

        @Override
        public String toString() {
            return String.join("\n", lines);
        }
    }

    /** All three acts end as they should, and each tells what was seen. */
    @Test
    @Tag("proof")
    void sellsExactlyWhatThereIs() {
        var run = run();
        assertThat(run.lines)
                .anyMatch(line -> line.matches(".*: [1-9][0-9,]* oversold\\."))
                .anyMatch(line -> line.contains("=> Deadlock"))
                .anyMatch(line -> line.contains("=> Another's lock deleted"));
        assertThat(run.lastLine())
                .as("%s", run)
                .isEqualTo("FLASH SALE OK: 1000 sold, 0 oversold, 1 jvm killed, 1 stale write refused");
        assertThat(run.exitCode).isZero();
    }

    /**
     * The lock alone can't stop a holder who wakes up too late; where the store doesn't check the token, the sale says
     * so.
     */
    @Test
    @Tag("proof")
    void failsWithoutTheTokenCheck() {
        var run = run("-Dflashsale.fencing=off");
        assertThat(run.lastLine())
                .as("%s", run)
                .startsWith("FLASH SALE FAILED: ")
                .contains("0 stale writes refused")
                .doesNotContain(" 0 oversold");
        assertThat(run.exitCode).isEqualTo(1);
    }

    private static Run run(String... options) {
        try (var sale = ChildJvm.of(FlashSale.class).options(options).start()) {
            int exitCode = sale.waitFor(MAX);
            return new Run(sale.lines(), exitCode);
        }
    }
}
