package dev.interlock.readwrite.fleet;

import dev.interlock.testing.SharedWords;
import java.io.IOException;
import java.nio.file.Path;

/** Two numbers in memory that several JVMs share: what a lock is to protect. */
final class SharedPair {

    private static final int FIRST = 0;

    /** On another page of memory. */
    private static final int SECOND = 512;

    private final SharedWords words;

    private SharedPair(SharedWords words) {
        this.words = words;
    }

    /** Opens the pair in a file; both are 0 if that is new. */
    static SharedPair open(Path file) throws IOException {
        return new SharedPair(SharedWords.open(file, SECOND + 1));
    }

    long first() {
        return words.get(FIRST);
    }

    long second() {
        return words.get(SECOND);
    }

    void setFirst(long value) {
        words.set(FIRST, value);
    }

    void setSecond(long value) {
        words.set(SECOND, value);
    }
}
