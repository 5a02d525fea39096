package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.TicketQueue.Ticket;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** What of a {@link LockState} threads read without its mutex, with which it is written. */
final class LockView {
    private static final long NEIGHBOUR_NANOS = TimeUnit.SECONDS.toNanos(10);

    final boolean fair;

    volatile @Nullable LockTenure tenure;

    /** The oldest ticket. */
    volatile @Nullable Ticket ticket;

    /** When Redis has last answered about this name. */
    volatile long heardNanos;

    /** Whether there are signals that were not sent. */
    volatile boolean isAnySignalDue;

    /** How many threads are done with waiting for conditions, or about to be, and don't have the local half yet. */
    final AtomicInteger arriving = new AtomicInteger();

    private volatile boolean hasNeighbours;

    private volatile long neighboursNanos;

    LockView(boolean fair) {
        this.fair = fair;
    }

    /** Returns whether the next thread in line may enter on that tenure. */
    boolean serves(LockTenure current) {
        if (!fair) {
            return true;
        }
        Ticket next = ticket;
        return next != null
                && next.sequence != 0
                && (next.sequence == current.sequence || next.sequence <= current.run);
    }

    /** Returns whether Redis has answered about this name since then. */
    boolean hasHeardSince(long nanos) {
        return heardNanos - nanos > 0;
    }

    /** Plain {@code RLock} clients own the name, or wait for it. */
    void neighboursSeen(long now) {
        neighboursNanos = now;
        hasNeighbours = true;
    }

    /** Returns whether plain {@code RLock} clients were there lately, and so may be again. */
    boolean hasNeighbours(long now) {
        return hasNeighbours && now - neighboursNanos < NEIGHBOUR_NANOS;
    }

    /** Returns whether waiters of conditions are about to queue for the local half. */
    boolean isAnyArriving() {
        return arriving.get() > 0;
    }
}
