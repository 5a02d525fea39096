package dev.interlock.benchmarks.contestants;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.benchmarks.contestants.Ledger.Timing;
import dev.interlock.testing.Monotonic;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LedgerTest {

    /** Whoever plays, and however fast: the n-th section of a thread in a round is one that writes, or is not. */
    @Test
    void allContestantsWriteInTheSamePattern() {
        int writes = 0;
        var mine = new Ledger(Ledger.page(), 10, 42);
        var theirs = new Ledger(Ledger.page(), 10, 42);
        for (int i = 0; i < 10_000; i++) {
            boolean isWrite = mine.willWrite();
            assertThat(theirs.willWrite()).isEqualTo(isWrite);
            writes += isWrite ? 1 : 0;
        }
        assertThat(writes).isBetween(800, 1_200);
    }

    /** Looking would take processor time from the hand-off that is being timed. */
    @Test
    void aHandOffIsNotWatchedWhileItLasts() {
        var ledger = new Ledger(Ledger.page(), Timing.HAND_OFFS, () -> {}, 0, 42);
        ledger.book();
        List<Long> looks = new ArrayList<>();
        ledger.rest(() -> {
            looks.add(Monotonic.nanos());
            return looks.size() == 2;
        });
        assertThat(looks.get(1) - looks.get(0)).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(3));
    }
}
