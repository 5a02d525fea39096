package dev.interlock.testing;

import java.io.IOException;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** A file of words, mapped, so that what a JVM has written into it outlives {@code kill -9}. */
public final class MappedWords {

    private MappedWords() {}

    /** Opens a file in parts of equal size, all zero if the file is new. */
    public static List<LongBuffer> open(Path file, int parts, int wordsOfAPart) throws IOException {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            LongBuffer all = channel.map(MapMode.READ_WRITE, 0, (long) parts * wordsOfAPart * Long.BYTES)
                    .asLongBuffer();
            List<LongBuffer> words = new ArrayList<>();
            for (int i = 0; i < parts; i++) {
                words.add(all.slice(i * wordsOfAPart, wordsOfAPart));
            }
            return words;
        }
    }
}
