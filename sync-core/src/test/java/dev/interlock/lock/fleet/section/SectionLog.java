package dev.interlock.lock.fleet.section;

import dev.interlock.testing.MappedWords;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The sections of one thread, in its part of a file that belongs to its JVM: 24 bytes each. The file is mapped, so that
 * it outlives {@code kill -9}.
 */
public final class SectionLog {

    private static final int WORDS = 3;
    private static final int MOST_SECTIONS = 100_000;
    private static final int WORDS_OF_A_THREAD = WORDS * MOST_SECTIONS;

    private final LongBuffer words;
    private volatile int size;

    private SectionLog(LongBuffer words) {
        this.words = words;
    }

    /** Opens the logs of the threads of one JVM, empty ones if the file is new. */
    public static List<SectionLog> open(Path file, int threads) throws IOException {
        return MappedWords.open(file, threads, WORDS_OF_A_THREAD).stream()
                .map(SectionLog::new)
                .toList();
    }

    /** Records a section; by one thread only. */
    public void add(long enter, long exit, long token) {
        int count = size;
        words.put(WORDS * count + 1, exit);
        words.put(WORDS * count + 2, token);
        words.put(WORDS * count, enter); // last, since it says that there is a section
        size = count + 1;
    }

    public int size() {
        return size;
    }

    public boolean isFull() {
        return size == MOST_SECTIONS;
    }

    public static List<Section> read(int jvm, Path file, int threads) throws IOException {
        var sections = new ArrayList<Section>();
        List<SectionLog> logs = open(file, threads);
        for (int thread = 0; thread < threads; thread++) {
            LongBuffer words = logs.get(thread).words;
            for (int i = 0; i < WORDS_OF_A_THREAD && words.get(i) != 0; i += WORDS) {
                sections.add(new Section(jvm, thread, words.get(i), words.get(i + 1), words.get(i + 2)));
            }
        }
        return sections;
    }
}
