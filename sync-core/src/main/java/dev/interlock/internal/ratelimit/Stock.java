package dev.interlock.internal.ratelimit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Permits that a limiter has taken ahead. One request at a time fetches more. */
final class Stock {
    /** What one request has fetched. */
    private record Lot(AtomicLong left, long untilNanos, Answer origin) {}

    /** How many permits are fetched at a time. */
    final long size;

    private final AtomicReference<@Nullable CompletableFuture<Answer>> fetching = new AtomicReference<>();
    private volatile @Nullable Lot lot;

    Stock(long size) {
        this.size = size;
    }

    /** Takes permits if they are here; returns the answer by which they came, or null. */
    @Nullable
    Answer take(long permits, long nowNanos) {
        Lot current = lot;
        if (current == null || nowNanos - current.untilNanos >= 0) {
            return null;
        }
        if (permits == 1) {
            // The hot path: one atomic instruction. What goes below zero stays there.
            return current.left.getAndDecrement() > 0 ? current.origin : null;
        }
        for (long left = current.left.get(); left >= permits; left = current.left.get()) {
            if (current.left.compareAndSet(left, left - permits)) {
                return current.origin;
            }
        }
        return null;
    }

    /** Returns how many permits are here. */
    long left() {
        Lot current = lot;
        return current == null ? 0 : Math.max(0, current.left.get());
    }

    /** Puts here what was granted beyond what was asked for. */
    void put(Answer answer, long permits) {
        if (answer.granted() > permits) {
            lot = new Lot(
                    new AtomicLong(answer.granted() - permits),
                    answer.sentNanos() + TimeUnit.MICROSECONDS.toNanos(answer.goodMicros()),
                    answer);
        }
    }

    /**
     * Returns the request that is under way to fetch more, or null, in which case that is now the one given; who gave
     * it says when it has {@linkplain #fetched ended}.
     */
    @Nullable
    CompletableFuture<Answer> fetch(CompletableFuture<Answer> own) {
        return fetching.compareAndExchange(null, own);
    }

    /**
     * The next request may be sent. To be called before those hear of it who wait for this one: they may have to send
     * the next.
     */
    void fetched() {
        fetching.set(null);
    }
}
