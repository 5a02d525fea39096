package dev.interlock.internal.semaphore;

import java.util.ArrayDeque;
import java.util.Deque;

/** Since when a session has had its permits. It gives back the oldest first. */
final class PermitAges {
    /**
     * Beyond so many batches, permits count as old as the last one: if they belong to nobody, none may be given back.
     */
    private static final int MOST = 64;

    /** Permits granted at once. */
    private static final class Batch {
        final long nanos;
        long permits;

        Batch(long nanos, long permits) {
            this.nanos = nanos;
            this.permits = permits;
        }
    }

    private final Deque<Batch> batches = new ArrayDeque<>();

    void add(long nowNanos, int permits) {
        if (batches.size() < MOST) {
            batches.add(new Batch(nowNanos, permits));
        } else {
            batches.getLast().permits += permits;
        }
    }

    void remove(long permits) {
        long left = permits;
        while (left > 0 && !batches.isEmpty()) {
            Batch oldest = batches.getFirst();
            long part = Math.min(left, oldest.permits);
            left -= part;
            oldest.permits -= part;
            if (oldest.permits == 0) {
                batches.removeFirst();
            }
        }
    }

    void clear() {
        batches.clear();
    }

    /** Returns whether any has been there for so long. */
    boolean isOlder(long nowNanos, long ageNanos) {
        Batch oldest = batches.peekFirst();
        return oldest != null && nowNanos - oldest.nanos >= ageNanos;
    }
}
