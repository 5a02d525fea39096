package dev.interlock.fleet;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The sections of one thread, and the file of those of one JVM: 25 bytes each. */
final class SectionLog {

    private static final int WORDS = 3;
    private static final int MOST_SECTIONS = 100_000;

    private final int thread;
    private long[] words = new long[WORDS * 1024];
    private volatile int size;

    SectionLog(int thread) {
        this.thread = thread;
    }

    /** Records a section; by one thread only. */
    void add(long enter, long exit, long token) {
        int count = size;
        if (WORDS * (count + 1) > words.length) {
            words = Arrays.copyOf(words, words.length * 2);
        }
        words[WORDS * count] = enter;
        words[WORDS * count + 1] = exit;
        words[WORDS * count + 2] = token;
        size = count + 1;
    }

    int size() {
        return size;
    }

    boolean isFull() {
        return size == MOST_SECTIONS;
    }

    /** Writes the logs of threads that have ended. */
    static void write(List<SectionLog> logs, Path file) throws IOException {
        try (var out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            for (SectionLog log : logs) {
                for (int i = 0; i < log.size; i++) {
                    out.writeByte(log.thread);
                    for (int word = 0; word < WORDS; word++) {
                        out.writeLong(log.words[WORDS * i + word]);
                    }
                }
            }
        }
    }

    static List<Section> read(int jvm, Path file) throws IOException {
        var sections = new ArrayList<Section>();
        try (var in = new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
            while (true) {
                int thread = in.read();
                if (thread < 0) {
                    return sections;
                }
                sections.add(new Section(jvm, thread, in.readLong(), in.readLong(), in.readLong()));
            }
        }
    }
}
