package dev.interlock.benchmarks.contestants;

import static com.google.common.base.Preconditions.checkState;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A number in a file. Each thread that adds to it opens the file on its own, and nothing but the lock under test
 * protects the number: a thread reads it, and writes a number that is greater by one.
 */
public final class CounterFile implements AutoCloseable {

    private final FileChannel channel;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(Long.BYTES);

    /** Opens a file that {@link #create} has made. */
    public CounterFile(Path file) {
        try {
            channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes a temporary file with the number 0. */
    public static Path create() {
        try {
            return Files.write(Files.createTempFile("interlock-scoreboard", ".counter"), new byte[Long.BYTES]);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Deletes the file. */
    public static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Called by one thread at a time. */
    public void increment() {
        long next = read() + 1;
        buffer.clear().putLong(next).flip();
        try {
            checkState(channel.write(buffer, 0) == Long.BYTES, "The number was written in part");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the number in the file. */
    public long read() {
        try {
            checkState(channel.read(buffer.clear(), 0) == Long.BYTES, "The number was read in part");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return buffer.flip().getLong();
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
