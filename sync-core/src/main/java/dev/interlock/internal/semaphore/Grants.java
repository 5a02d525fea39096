package dev.interlock.internal.semaphore;

import java.util.ArrayDeque;
import java.util.Deque;

/** Since when a session has had its permits. What it gives back is what it has had longest. */
final class Grants {
    /** Younger ones count as old as the last: those that belong to nobody need not ever be given back. */
    private static final int MOST = 64;

    private static final class Grant {
        final long nanos;
        long permits;

        Grant(long nanos, long permits) {
            this.nanos = nanos;
            this.permits = permits;
        }
    }

    private final Deque<Grant> grants = new ArrayDeque<>();

    void add(long nowNanos, int permits) {
        if (grants.size() < MOST) {
            grants.add(new Grant(nowNanos, permits));
        } else {
            grants.getLast().permits += permits;
        }
    }

    void remove(long permits) {
        long left = permits;
        while (left > 0 && !grants.isEmpty()) {
            Grant oldest = grants.getFirst();
            long part = Math.min(left, oldest.permits);
            left -= part;
            oldest.permits -= part;
            if (oldest.permits == 0) {
                grants.removeFirst();
            }
        }
    }

    void clear() {
        grants.clear();
    }

    /** Returns whether any has been there for so long. */
    boolean isOlder(long nowNanos, long ageNanos) {
        Grant oldest = grants.peekFirst();
        return oldest != null && nowNanos - oldest.nanos >= ageNanos;
    }
}
