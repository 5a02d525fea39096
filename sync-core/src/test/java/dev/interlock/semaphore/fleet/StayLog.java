package dev.interlock.semaphore.fleet;

import dev.interlock.testing.MappedWords;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The stays of one thread, in its part of a mapped file that belongs to its JVM. */
final class StayLog {

    private static final int WORDS = 4;
    private static final int MOST_STAYS = 20_000;
    private static final int WORDS_OF_A_THREAD = WORDS * MOST_STAYS;

    private final LongBuffer words;
    private volatile int size;

    private StayLog(LongBuffer words) {
        this.words = words;
    }

    /** Opens the logs of the threads of one JVM, empty ones if the file is new. */
    static List<StayLog> open(Path file, int threads) throws IOException {
        return MappedWords.open(file, threads, WORDS_OF_A_THREAD).stream()
                .map(StayLog::new)
                .toList();
    }

    /** Records a stay; by one thread only. */
    void add(long begun, long enter, long exit, int permits) {
        int at = WORDS * size;
        words.put(at + 1, enter);
        words.put(at + 2, exit);
        words.put(at + 3, permits);
        words.put(at, begun); // last, since it says that there is a stay
        size = at / WORDS + 1;
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == MOST_STAYS;
    }

    static List<Stay> read(int jvm, Path file, int threads) throws IOException {
        var stays = new ArrayList<Stay>();
        List<StayLog> logs = open(file, threads);
        for (int thread = 0; thread < threads; thread++) {
            LongBuffer words = logs.get(thread).words;
            for (int i = 0; i < WORDS_OF_A_THREAD && words.get(i) != 0; i += WORDS) {
                stays.add(new Stay(
                        jvm, thread, words.get(i), words.get(i + 1), words.get(i + 2), (int) words.get(i + 3)));
            }
        }
        return stays;
    }
}
