package dev.interlock.examples.election;

import dev.interlock.testing.SharedWords;
import java.io.IOException;
import java.nio.file.Path;

/** A store that all instances share, in a file: it refuses a write with a smaller fencing token than the greatest. */
final class Ledger {
    private static final int GREATEST = 0;
    private static final int ACCEPTED = 1;
    private static final int REFUSED = 2;
    private static final int WORDS = 3;

    private final SharedWords words;

    private Ledger(SharedWords words) {
        this.words = words;
    }

    static Ledger open(Path file) throws IOException {
        return new Ledger(SharedWords.open(file, WORDS));
    }

    /** Writes with a fencing token. Returns whether the write was accepted. */
    boolean write(long token) {
        boolean isAccepted = words.raise(GREATEST, token) <= token;
        words.add(isAccepted ? ACCEPTED : REFUSED, 1);
        return isAccepted;
    }

    long accepted() {
        return words.get(ACCEPTED);
    }

    long refused() {
        return words.get(REFUSED);
    }
}
