package dev.interlock.benchmarks;

import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One thread's account of its critical sections, beside a sum that all threads keep without synchronization. Two threads in the
 * section at once lose an update sooner or later, and then the sum is less than the accounts. The sum is on a page of memory, which
 * several JVMs can share by mapping the same file; a plain read and a plain write distort nothing. Next to it stands which JVM was in
 * the section last.
 */
final class Ledger {

    private static final int SUM = 0;
    private static final int LAST = Long.BYTES;
    private static final int SIZE = 2 * Long.BYTES;
    private static final long JVM = ProcessHandle.current().pid();

    private final ByteBuffer page;
    private final @Nullable Histogram waits;
    private final long stayNanos;
    private long booked;
    private long handOffs;
    private long repeats;
    private long unsettled;
    private long cameNanos;

    /** An account without waits. */
    Ledger(ByteBuffer page) {
        this(page, null, 0);
    }

    /**
     * An account.
     *
     * @param waits where to record how long the thread waits for each section, if that is wanted: it takes time, too
     * @param stayNanos how long the thread stays in each section
     */
    Ledger(ByteBuffer page, @Nullable Histogram waits, long stayNanos) {
        this.page = page;
        this.waits = waits;
        this.stayNanos = stayNanos;
    }

    /** A page for the threads of this JVM. */
    static ByteBuffer page() {
        return ByteBuffer.allocateDirect(SIZE).order(ByteOrder.nativeOrder());
    }

    /** A page for all JVMs that map the same file, which is created if it isn't there. */
    static ByteBuffer page(Path file) {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE).order(ByteOrder.nativeOrder());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What the threads have added up on a page. */
    static long sum(ByteBuffer page) {
        return page.getLong(SUM);
    }

    /** Called before the thread begins to wait for the critical section. */
    void come() {
        if (waits != null) {
            cameNanos = Monotonic.nanos();
        }
    }

    /** Called inside the critical section. */
    void book() {
        if (waits != null) {
            waits.recordValue(Monotonic.nanos() - cameNanos);
        }
        page.putLong(SUM, page.getLong(SUM) + 1);
        if (page.getLong(LAST) == JVM) {
            unsettled++;
        } else {
            page.putLong(LAST, JVM);
            // What came before the first hand-off had no competitor yet.
            repeats += handOffs == 0 ? 0 : unsettled;
            unsettled = 0;
            handOffs++;
        }
        booked++;
        if (stayNanos > 0) {
            LockSupport.parkNanos(stayNanos);
        }
    }

    /** Whether this JVM was in the section last. */
    boolean isLast() {
        return page.getLong(LAST) == JVM;
    }

    /** What the threads have added up so far; called inside the critical section. */
    long sum() {
        return sum(page);
    }

    /** How often this thread has called {@link #book}. */
    long booked() {
        return booked;
    }

    /** How many of these sections came after one of another JVM. */
    long handOffs() {
        return handOffs;
    }

    /** How many of the others came between two hand-offs to this thread: meanwhile another JVM was playing, too. */
    long repeats() {
        return repeats;
    }
}
