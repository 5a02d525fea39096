package dev.interlock.testing;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A clock that goes with real time, and can be put forward. */
public final class MovableTicker implements LongSupplier {
    private final AtomicLong aheadNanos = new AtomicLong();

    @Override
    public long getAsLong() {
        return Monotonic.nanos() + aheadNanos.get();
    }

    /** Puts it forward. */
    public void advance(Duration by) {
        aheadNanos.addAndGet(by.toNanos());
    }
}
