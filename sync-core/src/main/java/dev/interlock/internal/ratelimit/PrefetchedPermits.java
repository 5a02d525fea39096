package dev.interlock.internal.ratelimit;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Permits that a limiter has taken ahead. One request at a time fetches more. */
final class PrefetchedPermits {
    /** The permits that one request has fetched, and until when they may be used. */
    private record Fetched(AtomicLong left, long untilNanos, Answer origin) {}

    /** How many permits are fetched at a time. */
    final long size;

    private final AtomicReference<@Nullable CompletableFuture<Answer>> fetching = new AtomicReference<>();
    private volatile @Nullable Fetched fetched;

    PrefetchedPermits(long size) {
        this.size = size;
    }

    /** Takes permits if they are here; returns the answer by which they came, or null. */
    @Nullable
    Answer take(long permits, long nowNanos) {
        Fetched current = fetched;
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
        Fetched current = fetched;
        return current == null ? 0 : Math.max(0, current.left.get());
    }

    /** Takes what is here, for the one request that fetches more. Returns how many permits it is. */
    long takeAll(long nowNanos) {
        Fetched current = fetched;
        return current == null || nowNanos - current.untilNanos >= 0 ? 0 : Math.max(0, current.left.getAndSet(0));
    }

    /** That request was refused: what was taken is here again. */
    void putBack(long permits) {
        Fetched current = fetched;
        if (current != null && permits > 0) {
            fetched = new Fetched(new AtomicLong(permits), current.untilNanos, current.origin);
        }
    }

    /**
     * Puts here what was granted beyond what was asked for, in the place of what was here, which is used up or over.
     */
    void put(Answer answer, long permits) {
        if (answer.granted() > permits) {
            fetched = new Fetched(
                    new AtomicLong(answer.granted() - permits),
                    answer.sentNanos() + TimeUnit.MICROSECONDS.toNanos(answer.goodMicros()),
                    answer);
        }
    }

    /**
     * Begins to fetch more, unless another request does: returns that one, or null. The caller says when its own has
     * {@linkplain #endFetch ended}.
     */
    @Nullable
    CompletableFuture<Answer> beginFetch(CompletableFuture<Answer> own) {
        return fetching.compareAndExchange(null, own);
    }

    /** The next request may be sent. Called before the threads that wait for this one are woken: they may send it. */
    void endFetch() {
        fetching.set(null);
    }
}
