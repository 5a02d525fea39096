package dev.interlock.testing;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A clock that goes with real time, and can be put forward: a ticker, or a wall clock. */
public final class MovableTicker implements LongSupplier, InstantSource {
    private final AtomicLong aheadNanos = new AtomicLong();

    @Override
    public long getAsLong() {
        return Monotonic.nanos() + aheadNanos.get();
    }

    @Override
    public Instant instant() {
        return Instant.ofEpochSecond(0, getAsLong());
    }

    /** Puts it forward. */
    public void advance(Duration by) {
        aheadNanos.addAndGet(by.toNanos());
    }
}
