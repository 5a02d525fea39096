package dev.interlock.testing.rig;

import dev.interlock.testing.MappedWords;
import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * How threads record what they see.
 *
 * @param width how many words a record has
 * @param most how many records a thread may have
 * @param reader makes something of a record
 */
public record LogFormat<R>(int width, int most, Reader<R> reader) {

    /** Makes something of a record. */
    @FunctionalInterface
    public interface Reader<R> {

        /**
         * Returns what a record says.
         *
         * @param jvm index of its JVM in the fleet
         * @param thread index of its thread in that JVM
         */
        R read(int jvm, int thread, long[] words);
    }

    /** Opens the logs of the threads of one JVM, empty ones if the file is new. */
    public List<Log> open(Path file, int threads) throws IOException {
        return MappedWords.open(file, threads, width * most).stream()
                .map(words -> new Log(words, width))
                .toList();
    }

    /** Reads what the threads of one JVM have recorded, the records that have not ended included. */
    public List<R> read(int jvm, Path file, int threads) throws IOException {
        var records = new ArrayList<R>();
        List<LongBuffer> parts = MappedWords.open(file, threads, width * most);
        for (int thread = 0; thread < threads; thread++) {
            LongBuffer words = parts.get(thread);
            for (int at = 0; at < words.capacity() && words.get(at) != 0; at += width) {
                long[] record = new long[width];
                words.get(at, record);
                records.add(reader.read(jvm, thread, record));
            }
        }
        return records;
    }
}
