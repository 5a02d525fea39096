package dev.interlock.internal.lock.script;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * For how long a session keeps a name: a turn while others want it, and a moment when no thread of the session does. A
 * part of the {@link LockState}: it is told what happens, and when, and decides.
 *
 * <p><b>Turns.</b> Threads of the session hand the name to each other for a slice since its turn began. Once that is
 * over and others wait, the next thread that leaves gives the name up. Readers may join those inside for as long.
 *
 * <p><b>Retention.</b> A name that no thread wants is kept, so that the next one needs no round trip: for a fixed time;
 * or, where that has paid lately, for the slice, 10 ms at most. A score tells whether it pays. It grows when a thread
 * takes a name that was kept; also when one gets a name again that the session gave up less than a slice ago and that
 * nobody else has had since, as Redis tells. It falls when a name is taken again later, or after others; and when it
 * was kept in vain, to nothing if another session wanted it. While plain {@code RLock} clients are about, which can't
 * ask for a name, it is not kept.
 *
 * <p><b>Concurrency.</b> Threads tell it without the mutex of the state: the one that has taken the tenure, or has
 * closed it. Readers that come together to what a writer has left may count as one. What others read is volatile.
 */
final class KeepPolicy {
    private static final int LEAST_SCORE = 3;

    private static final int MOST_SCORE = 8;

    private static final long MOST_ADAPTIVE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final long sliceNanos;

    /** Whether a turn is over as soon as others wait. */
    private final boolean endsTurns;

    /** For how long a name is kept in any case, or 0; {@link ScriptLock#ADAPTIVE} if that depends. */
    private final long retainNanos;

    /** From 0 to {@link #MOST_SCORE}. */
    private int score;

    /** Whether the name is kept since the last thread left it, other than by readers. */
    private boolean isKept;

    /** Whether the last tenure was given up by the thread that used it, and when that was. */
    private boolean isGivenUp;

    private long givenUpNanos;

    /** Until when a name is kept that the last thread has left. */
    private volatile long keptUntilNanos;

    /**
     * Creates it.
     *
     * @param endsTurns whether a turn is over as soon as others wait
     * @param retainMillis for how long a name is kept that no thread wants, 0 or less for not at all, or
     *     {@link ScriptLock#ADAPTIVE}
     */
    KeepPolicy(long sliceNanos, boolean endsTurns, long retainMillis) {
        this.sliceNanos = sliceNanos;
        this.endsTurns = endsTurns;
        this.retainNanos = retainMillis == ScriptLock.ADAPTIVE
                ? ScriptLock.ADAPTIVE
                : TimeUnit.MILLISECONDS.toNanos(Math.max(0, retainMillis));
    }

    // ---- turns

    /** Returns how long a turn lasts although others wait. */
    long turnNanos() {
        return endsTurns ? 0 : sliceNanos;
    }

    /** Returns whether others wait, and the turn has lasted long enough. */
    boolean isTurnOver(LockTenure current, long now) {
        return current.demand && turnLeftNanos(current, now) <= 0;
    }

    /** Returns what is left of a turn. It is 0 or negative if that has lasted long enough. */
    long turnLeftNanos(LockTenure current, long now) {
        return turnNanos() - (now - current.turnNanos);
    }

    /**
     * Returns whether a thread that wants to read since then may do so on a tenure. A shared one for which others wait
     * lets nobody in who came after it began: it is a writer that they wait for, or are.
     */
    boolean admits(LockTenure current, long wantsSinceNanos, long now) {
        return current.shared ? !current.demand || wantsSinceNanos - current.startNanos < 0 : !isTurnOver(current, now);
    }

    // ---- retention

    private long adaptiveNanos() {
        return retainNanos == ScriptLock.ADAPTIVE ? Math.min(MOST_ADAPTIVE_NANOS, sliceNanos) : 0;
    }

    /**
     * A thread leaves a name that no other one of the session waits for. Returns whether it is kept.
     *
     * @param mayKeep whether it may be kept at all
     * @param hasNeighbours whether plain {@code RLock} clients are about
     */
    boolean keeps(boolean mayKeep, boolean hasNeighbours, long now) {
        boolean pays = score >= LEAST_SCORE && !hasNeighbours;
        isKept = mayKeep && keeps(retainNanos > 0 ? retainNanos : pays ? adaptiveNanos() : 0, now);
        return isKept;
    }

    /** As {@link #keeps}, of readers: what they leave is kept for a slice in any case, since others often follow. */
    boolean keepsForReaders(boolean mayKeep, long now) {
        return mayKeep && keeps(sliceNanos, now);
    }

    private boolean keeps(long nanos, long now) {
        if (nanos > 0) {
            keptUntilNanos = now + nanos;
        }
        return nanos > 0;
    }

    /** Returns until when a name is kept that no thread has entered meanwhile. */
    long keptUntilNanos() {
        return keptUntilNanos;
    }

    /** A thread has entered without a round trip. */
    void entered() {
        if (isKept) {
            isKept = false;
            paid();
        }
    }

    /** A thread has entered on a tenure that the session has just got. */
    void begun(@Nullable LockTenure granted, long now) {
        isKept = false;
        if (isGivenUp && now - givenUpNanos < adaptiveNanos() && granted != null && granted.isNext) {
            paid();
        } else {
            // It wouldn't have paid; what counts is that it does several times in a row.
            score /= 2;
        }
        isGivenUp = false;
    }

    private void paid() {
        score = Math.min(score + 1, MOST_SCORE);
    }

    /**
     * A tenure is given up: by the thread that used it, or because it was kept in vain.
     *
     * @param isWanted whether another session waits, or has asked whether a thread is inside
     */
    void ended(boolean isWanted, long now) {
        if (isKept) {
            isKept = false;
            score = isWanted ? 0 : score / 2;
        } else {
            isGivenUp = true;
            givenUpNanos = now;
        }
    }
}
