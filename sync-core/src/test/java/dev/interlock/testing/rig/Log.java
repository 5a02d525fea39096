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
        for (int i = width - 1; i >= 0; i--) {
            put(i, record[i]); // the first word comes last, since it says that there is a record
        }
        next();
    }

    /** Writes a word of the record that comes next. */
    public void put(int word, long value) {
        words.put(at + word, value);
    }

    /** Ends the record of which words were written. */
    public void next() {
        at += width;
        size = at / width;
    }

    /** How many records have ended. */
    public int size() {
        return size;
    }

    public boolean isFull() {
        return (size + 1L) * width > words.capacity();
    }
}
