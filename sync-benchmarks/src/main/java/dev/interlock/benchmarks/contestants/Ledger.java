package dev.interlock.benchmarks.contestants;

import static com.google.common.base.Preconditions.checkState;

import dev.interlock.benchmarks.contestants.Contestant.Work;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.HdrHistogram.Histogram;

/**
 * One thread's account of its critical sections, beside a sum that all threads keep without synchronization. Two
 * threads in the section at once lose an update sooner or later, and then the sum is less than the accounts. The sum is
 * on a page of memory, which several JVMs can share by mapping the same file; a plain read and a plain write distort
 * nothing. Next to it stands which JVM was in the section last, and some way off a twin of the sum, which is written
 * last: who reads while nobody writes sees no difference. Where several may be inside at a time, those who are count
 * themselves, which takes two atomic operations. Where there are many locks, each has a cell for a sum of its own.
 */
public final class Ledger {

    private static final int SUM = 0;
    private static final int LAST = Long.BYTES;
    private static final int TWIN = 128; // on a line of the cache that isn't the sum's, so that a difference lasts
    private static final int INSIDE = 2 * TWIN;
    private static final int RELEASED = 3 * TWIN;
    private static final int CELLS = 4 * TWIN;
    private static final int MOST_CELLS = 10_000;
    private static final int SIZE = CELLS + MOST_CELLS * Long.BYTES;
    private static final VarHandle LONGS = MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long JVM = ProcessHandle.current().pid();

    /** Above this a thread that stays in its section sleeps there, below it works. */
    private static final long MOST_WORK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    /** By then a hand-off is over in most cases: a look takes processor time from the one that is being timed. */
    private static final long FIRST_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(3);

    /** What is timed: reading the clock costs the fast more than the slow. */
    public enum Timing {
        NOTHING,
        /** Nothing either; what isn't a lock is passed on by the thread that waits for it, as a lock is. */
        TURNS,
        /** From coming to the lock to entering the section. */
        WAITS,
        /** A whole operation, release included. */
        OPERATIONS,
        /** From the release in another JVM to the entry in this one. */
        HAND_OFFS
    }

    private final ByteBuffer page;
    private final Timing timing;
    private final Histogram times = noTimes();
    private final Runnable stay;
    private final long bornNanos = Monotonic.nanos();
    private final int writePercent;
    private final SplittableRandom choices;
    private long booked;
    private long torn;
    private long handOffs;
    private long repeats;
    private long unsettled;
    private long cameNanos;
    private long endNanos;
    private boolean over;

    /** An account without times. */
    public Ledger(ByteBuffer page, int writePercent, long seed) {
        this(page, Timing.NOTHING, staying(0), writePercent, seed);
    }

    /**
     * An account.
     *
     * @param timing what is timed
     * @param stay what the thread does in each section
     * @param writePercent how many sections in a hundred write, where the lock tells writers from readers
     * @param seed which of them
     */
    public Ledger(ByteBuffer page, Timing timing, Runnable stay, int writePercent, long seed) {
        this.page = page;
        this.timing = timing;
        this.stay = stay;
        this.writePercent = writePercent;
        this.choices = new SplittableRandom(JVM << 32 ^ seed);
    }

    /** Staying in a section for a while: at work if it is short, else asleep. */
    public static Runnable staying(long nanos) {
        if (nanos == 0) {
            return () -> {};
        }
        return nanos > MOST_WORK_NANOS ? () -> LockSupport.parkNanos(nanos) : () -> work(nanos);
    }

    private static void work(long nanos) {
        long startNanos = Monotonic.nanos();
        while (Monotonic.nanos() - startNanos < nanos) {
            Thread.onSpinWait();
        }
    }

    /** A page for the threads of this JVM. */
    public static ByteBuffer page() {
        return ByteBuffer.allocateDirect(SIZE).order(ByteOrder.nativeOrder());
    }

    /** A page for all JVMs that map the same file, which is created if it isn't there. */
    public static ByteBuffer page(Path file) {
        try (var channel =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return channel.map(FileChannel.MapMode.READ_WRITE, 0, SIZE).order(ByteOrder.nativeOrder());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** For times, in nanoseconds and to two digits. */
    public static Histogram noTimes() {
        return new Histogram(2);
    }

    /** What the threads have added up on a page. */
    public static long sum(ByteBuffer page) {
        return page.getLong(SUM);
    }

    /** The same, with what was added up in the cells. */
    public static long total(ByteBuffer page) {
        long total = sum(page);
        for (int cell = 0; cell < MOST_CELLS; cell++) {
            total += page.getLong(CELLS + cell * Long.BYTES);
        }
        return total;
    }

    /** Tells the account when its round ends, by the machine-wide clock. */
    public Ledger until(long nanos) {
        endNanos = nanos;
        return this;
    }

    /** How long the round still takes; 0 if it {@linkplain #isOver() is over}. */
    public long leftNanos() {
        long leftNanos = endNanos - Monotonic.nanos();
        over |= leftNanos <= 0;
        return Math.max(0, leftNanos);
    }

    /** Whether the thread has found its round over: that of work that looks at the clock. */
    public boolean isOver() {
        return over;
    }

    /** Draws one of so many. */
    public int draw(int bound) {
        return choices.nextInt(bound);
    }

    /** Decides whether the next section is one that writes. */
    boolean willWrite() {
        return choices.nextInt(100) < writePercent;
    }

    /** Does one operation, and times it if that is wanted. */
    public boolean once(Work work) {
        if (timing != Timing.OPERATIONS) {
            return work.once(this);
        }
        long startNanos = Monotonic.nanos();
        boolean done = work.once(this);
        if (done) {
            times.recordValue(Monotonic.nanos() - startNanos);
        }
        return done;
    }

    /**
     * Where hand-offs are timed, waits until another JVM has been in the section: whoever came back at once would get
     * it himself. A release may still be on its way, so the first look comes late.
     */
    public void rest(BooleanSupplier isOver) {
        long pause = FIRST_LOOK_NANOS;
        while (timing == Timing.HAND_OFFS && isLast() && !isOver.getAsBoolean()) {
            LockSupport.parkNanos(pause);
            pause = LOOK_NANOS;
        }
    }

    /** Whether the thread that has waited passes on what it has got. */
    boolean passes() {
        return timing == Timing.HAND_OFFS || timing == Timing.TURNS;
    }

    /** Called by who passes something on that isn't a lock, when it has got it. */
    void pass() {
        enter();
        handOffs += isLast() ? 0 : 1;
        page.putLong(LAST, JVM);
        stay.run();
        leave();
    }

    /** Called before the thread begins to wait for the critical section. */
    void come() {
        if (timing == Timing.WAITS) {
            cameNanos = Monotonic.nanos();
        }
    }

    /**
     * Called inside a critical section that others may share with this thread, but nobody who {@linkplain #book books}.
     */
    public void look() {
        enter();
        if (page.getLong(SUM) != page.getLong(TWIN)) {
            torn++;
        }
        stay.run();
    }

    /** Called inside a section that at most so many threads share at a time, this one included. */
    public void crowd(int most) {
        enter();
        if ((long) LONGS.getAndAdd(page, INSIDE, 1L) >= most) {
            torn++;
        }
        stay.run();
        long left = (long) LONGS.getAndAdd(page, INSIDE, -1L);
        checkState(left > 0, "%s threads had been inside when one left", left);
    }

    /** Called inside the critical section. */
    public void book() {
        enter();
        long sum = page.getLong(SUM) + 1;
        page.putLong(SUM, sum);
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
        stay.run();
        page.putLong(TWIN, sum);
        leave();
    }

    /** The same inside the critical section of one of many locks, which protects a cell. */
    public void book(int cell) {
        enter();
        int at = CELLS + Objects.checkIndex(cell, MOST_CELLS) * Long.BYTES;
        page.putLong(at, page.getLong(at) + 1);
        booked++;
        stay.run();
    }

    private void enter() {
        if (timing == Timing.WAITS) {
            times.recordValue(Monotonic.nanos() - cameNanos);
        } else if (timing == Timing.HAND_OFFS && page.getLong(LAST) != JVM) {
            long releasedNanos = page.getLong(RELEASED);
            // What was released before this round had nobody waiting for it.
            if (releasedNanos - bornNanos >= 0) {
                times.recordValue(Monotonic.nanos() - releasedNanos);
            }
        }
    }

    // The last thing before the lock is released.
    private void leave() {
        if (timing == Timing.HAND_OFFS) {
            page.putLong(RELEASED, Monotonic.nanos());
        }
    }

    /** Whether this JVM was in the section last. */
    public boolean isLast() {
        return page.getLong(LAST) == JVM;
    }

    /** What the threads have added up so far; called inside the critical section. */
    long sum() {
        return sum(page);
    }

    /** How often this thread has called {@link #book}. */
    public long booked() {
        return booked;
    }

    /** What was timed, in nanoseconds. */
    public Histogram times() {
        return times;
    }

    /**
     * How often {@link #look} has seen what somebody was writing just then, or {@link #crowd} that there were too many.
     */
    public long torn() {
        return torn;
    }

    /** How many of the sections that were booked came after one of another JVM. */
    public long handOffs() {
        return handOffs;
    }

    /** How many of the others came between two hand-offs to this thread: meanwhile another JVM was playing, too. */
    public long repeats() {
        return repeats;
    }
}
