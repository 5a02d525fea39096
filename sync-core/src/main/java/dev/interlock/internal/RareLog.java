package dev.interlock.internal;

import com.google.common.annotations.VisibleForTesting;
import com.google.common.cache.CacheBuilder;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * Lets through those lines of a log that could come many times a second: for each subject one in ten seconds, which
 * says how many were left out; or one only.
 */
public final class RareLog {
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final int MOST_SUBJECTS = 1_000;

    private record Last(long nanos, int omitted) {}

    private final LongSupplier ticker;
    private final ConcurrentMap<String, Last> lasts = CacheBuilder.newBuilder()
            .maximumSize(MOST_SUBJECTS)
            .<String, Last>build()
            .asMap();

    /** Creates one that has let nothing through yet. */
    public RareLog() {
        this(System::nanoTime);
    }

    @VisibleForTesting
    RareLog(LongSupplier ticker) {
        this.ticker = ticker;
    }

    /** Returns one that lets through one line for each subject, of the last thousand. */
    public static RareLog once() {
        return new RareLog(() -> 0);
    }

    /**
     * Writes a line, or leaves it out.
     *
     * @param line writes it, and adds what it is given
     * @return whether it was written
     */
    @CanIgnoreReturnValue
    public boolean say(String subject, Consumer<String> line) {
        long now = ticker.getAsLong();
        AtomicInteger omitted = new AtomicInteger(-1);
        lasts.compute(subject, (same, last) -> {
            if (last != null && now - last.nanos < PAUSE_NANOS) {
                return new Last(last.nanos, last.omitted + 1);
            }
            omitted.set(last == null ? 0 : last.omitted);
            return new Last(now, 0);
        });
        int count = omitted.get();
        if (count >= 0) {
            line.accept(count == 0 ? "" : " (and " + count + " times since it was last said)");
        }
        return count >= 0;
    }
}
