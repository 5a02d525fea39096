package dev.interlock.testing.rig;

import java.nio.LongBuffer;

/**
 * What one thread has recorded, in its part of a file that belongs to its JVM. The file is mapped, so that it outlives
 * {@code kill -9}. A record is a few words, of which the first isn't 0.
 */
public final class Log {

    private final LongBuffer words;
    private final int width;
    private int at;
    private volatile int size;

    Log(LongBuffer words, int width) {
        this.words = words;
        this.width = width;
    }

    /** Adds a record; by one thread only. */
    public void add(long... record) {
        begin();
        for (int i = width - 1; i >= 0; i--) {
            put(i, record[i]); // the first word comes last, since it says that there is a record
        }
        end();
    }

    /** Begins a record, behind the last one that has ended. */
    public void begin() {
        at = width * size;
    }

    /** Writes a word of the record that was begun. */
    public void put(int word, long value) {
        words.put(at + word, value);
    }

    /** Counts the record that was begun. What is written before the next one begins still belongs to it. */
    public void end() {
        size = at / width + 1;
    }

    /** How many records have ended. */
    public int size() {
        return size;
    }

    public boolean isFull() {
        return (size + 1L) * width > words.capacity();
    }
}
