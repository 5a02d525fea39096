package dev.interlock.benchmarks.contestants;

import static org.assertj.core.api.Assertions.assertThat;

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
}
