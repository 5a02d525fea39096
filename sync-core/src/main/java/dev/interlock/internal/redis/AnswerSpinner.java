package dev.interlock.internal.redis;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * Looks out for answers that are about to come. To wake a parked thread takes about as long as an answer from a Redis
 * nearby, so whoever parks waits twice. While answers have been coming that fast, a thread looks for its own for a
 * while and lets others run in between; they need the processors more. So only some threads of a JVM do so at a time,
 * and those that find nothing park.
 */
public final class AnswerSpinner {
    /** An answer that usually takes longer isn't waited for this way. */
    private static final long NEAR_NANOS = TimeUnit.MICROSECONDS.toNanos(300);

    /**
     * One that took longer than this counts as if it had not: a single pause of some process says nothing about the
     * next answer.
     */
    private static final long MOST_NANOS = 4 * NEAR_NANOS;

    private static final Semaphore PLACES =
            new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() / 2));

    private final LongSupplier ticker;

    /** How long answers have taken lately; a hint, so that updates may be lost. */
    private volatile long usualNanos = NEAR_NANOS / 2;

    /** Creates one that goes by this ticker. */
    public AnswerSpinner(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /** An answer has come. */
    void heard(long tookNanos) {
        long usual = usualNanos;
        usualNanos = usual + (Math.min(MOST_NANOS, tookNanos) - usual) / 8;
    }

    /** Waits for an answer for as long as one usually takes, twice at most, and returns whether it is there. */
    public boolean awaits(CompletableFuture<?> answer) {
        return awaits(answer::isDone);
    }

    // Nothing relies on the scheduler but how fast this is.
    @SuppressWarnings("ThreadPriorityCheck")
    private static void letOthersRun() {
        Thread.yield();
    }

    /**
     * Waits for something to be so for as long as an answer usually takes, twice at most, and returns whether it is.
     */
    public boolean awaits(BooleanSupplier isThere) {
        long usual = usualNanos;
        if (usual > NEAR_NANOS || !PLACES.tryAcquire()) {
            return isThere.getAsBoolean();
        }
        try {
            long start = ticker.getAsLong();
            while (!isThere.getAsBoolean()) {
                if (ticker.getAsLong() - start >= 2 * usual) {
                    return false;
                }
                letOthersRun();
            }
            return true;
        } finally {
            PLACES.release();
        }
    }
}
