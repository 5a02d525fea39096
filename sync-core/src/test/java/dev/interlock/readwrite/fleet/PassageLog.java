package dev.interlock.readwrite.fleet;

import dev.interlock.testing.MappedWords;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The passages of one thread, in its part of a mapped file that belongs to its JVM. */
final class PassageLog {

    private static final int WORDS = 6;
    private static final int MOST_PASSAGES = 20_000;
    private static final int WORDS_OF_A_THREAD = WORDS * MOST_PASSAGES;

    private final LongBuffer words;
    private volatile int size;

    private PassageLog(LongBuffer words) {
        this.words = words;
    }

    /** Opens the logs of the threads of one JVM, empty ones if the file is new. */
    static List<PassageLog> open(Path file, int threads) throws IOException {
        return MappedWords.open(file, threads, WORDS_OF_A_THREAD).stream()
                .map(PassageLog::new)
                .toList();
    }

    /** Records a passage; by one thread only. */
    void add(long begun, long enter, long exit, long token, long first, long second) {
        int at = WORDS * size;
        words.put(at + 1, enter);
        words.put(at + 2, exit);
        words.put(at + 3, token);
        words.put(at + 4, first);
        words.put(at + 5, second);
        words.put(at, begun); // last, since it says that there is a passage
        size = at / WORDS + 1;
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == MOST_PASSAGES;
    }

    static List<Passage> read(int jvm, Path file, int threads) throws IOException {
        var passages = new ArrayList<Passage>();
        List<PassageLog> logs = open(file, threads);
        for (int thread = 0; thread < threads; thread++) {
            LongBuffer words = logs.get(thread).words;
            for (int i = 0; i < WORDS_OF_A_THREAD && words.get(i) != 0; i += WORDS) {
                passages.add(new Passage(
                        jvm,
                        thread,
                        words.get(i),
                        words.get(i + 1),
                        words.get(i + 2),
                        words.get(i + 3),
                        words.get(i + 4),
                        words.get(i + 5)));
            }
        }
        return passages;
    }
}
