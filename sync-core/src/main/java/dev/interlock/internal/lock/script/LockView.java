package dev.interlock.internal.lock.script;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The part of a {@link LockState} that threads read without its mutex, with which it is written. */
final class LockView {
    private static final long NEIGHBOUR_NANOS = TimeUnit.SECONDS.toNanos(10);

    /** A release that has no answer for so long is taken to be lost. */
    private static final long MOST_MILLIS = 1_000;

    final boolean fair;

    final KeepPolicy keep;

    private final int patienceMillis;

    volatile @Nullable LockTenure tenure;

    /** The oldest ticket. */
    volatile @Nullable Ticket ticket;

    /** When Redis has last answered about this name; at first, when this was created. */
    volatile long heardNanos;

    /** Whether there are signals that were not sent. */
    volatile boolean isAnySignalDue;

    /** How many threads are done with waiting for conditions, or about to be, and don't have the local half yet. */
    private volatile int arriving;

    /** The tenure whose release is under way, 0 for none. */
    private volatile long releasing;

    private volatile long releasingUntilNanos;

    private volatile boolean hasNeighbours;

    private volatile long neighboursNanos;

    /**
     * Creates it.
     *
     * @param commandTimeoutMillis for how long a thread waits for a first answer
     */
    LockView(boolean fair, KeepPolicy keep, long commandTimeoutMillis, long now) {
        this.fair = fair;
        this.keep = keep;
        this.heardNanos = now;
        this.patienceMillis = (int) Math.min(MOST_MILLIS, commandTimeoutMillis / 2);
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

    /** The release of a tenure is sent. The next request mustn't overtake it: it would find the name in use. */
    void releases(long sequence, long now) {
        releasingUntilNanos = now + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
        releasing = sequence;
    }

    /** That release is confirmed, or given up. */
    void released(long sequence) {
        if (releasing == sequence) {
            releasing = 0;
        }
    }

    /** Returns whether a release is under way that isn't taken to be lost. */
    boolean isReleasing(long now) {
        return releasing != 0 && releasingUntilNanos - now > 0;
    }

    /** Returns when it is taken to be lost. */
    long releasingUntilNanos() {
        return releasingUntilNanos;
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
        return arriving > 0;
    }

    /** One more waiter is about to; or one fewer, if that is negative. */
    void arrive(int more) {
        int before = arriving;
        arriving = before + more;
    }
}
