package dev.interlock.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * One thread's account of its critical sections, beside a sum that all threads keep without synchronization. Two threads in the
 * section at once lose an update sooner or later, and then the sum is less than the accounts. The sum is on a page of memory, which
 * several JVMs can share by mapping the same file; a plain read and a plain write distort nothing.
 */
final class Ledger {

    private final ByteBuffer page;
    private long booked;

    Ledger(ByteBuffer page) {
        this.page = page;
    }

    /** A page for the threads of this JVM. */
    static ByteBuffer page() {
        return ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
    }

    /** A page for all JVMs that map the same file, which is created if it isn't there. */
    static ByteBuffer page(Path file) {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, Long.BYTES).order(ByteOrder.nativeOrder());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the threads have added up on a page. */
    static long sum(ByteBuffer page) {
        return page.getLong(0);
    }

    /** Called inside the critical section. */
    void book() {
        page.putLong(0, page.getLong(0) + 1);
        booked++;
    }

    /** How often this thread has called {@link #book}. */
    long booked() {
        return booked;
    }
}
