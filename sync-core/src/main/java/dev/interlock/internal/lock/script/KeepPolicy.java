package dev.interlock.internal.lock.script;

import java.util.concurrent.TimeUnit;

/**
 * For how long a session keeps a name: a turn while others want it, and a moment when no thread of the session does. A
 * part of the {@link LockState}: it is told what happens, and when, and decides.
 *
 * <p><b>Turns.</b> Threads of the session hand the name to each other for a slice since its turn began. Once that is
 * over and others wait, the next thread that leaves gives the name up. Readers may join those inside for as long.
 *
 * <p><b>Gaps.</b> A thread that leaves is often followed by another one soon, or comes back itself. A name that no
 * thread wants is kept for that one, as an anticipatory disk scheduler waits for the next request of a process before
 * it serves another one (Iyer and Druschel, <i>Anticipatory scheduling</i>, SOSP 2001). The policy remembers how long
 * it lately took until the next thread came: an average that follows longer gaps at once, and shorter ones slowly, so
 * that most gaps are shorter. While nobody else wants the name, it is kept for a slice, 10 ms at most, if twice the gap
 * is less. While others wait, an idle name costs them time, and giving it up costs a hand-off, which takes about a
 * millisecond: so it is kept for as long as that within the turn, if the gap is less. The first gap is taken to be
 * long; so is the next one if another session came to want the name before a thread of this one did.
 *
 * <p>A fixed retention keeps a name while nobody else wants it. While plain {@code RLock} clients are about, which
 * can't ask for a name, only that does.
 *
 * <p><b>Concurrency.</b> Threads tell it without the mutex of the state: the one that has taken the tenure, or has
 * closed it. Readers that come together to what a writer has left may count as one. What others read is volatile.
 */
final class KeepPolicy {
    /** For so long a name is kept at most because a thread may come. */
    private static final long MOST_ALONE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** A hand-off to another session takes about as long. */
    private static final long HAND_OFF_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** A gap changes the average by half of what it is longer, or by a quarter of what it is shorter. */
    private static final int LONGER_PART = 2;

    private static final int SHORTER_PART = 4;

    private final long sliceNanos;

    /** Whether a turn is over as soon as others wait. */
    private final boolean endsTurns;

    /** For how long a name is kept in any case while nobody else wants it, or 0. */
    private final long retainNanos;

    /** Whether a name is kept for threads that are likely to come. */
    private final boolean adapts;

    /** How long it lately took until the next thread came, {@link #MOST_ALONE_NANOS} at most. */
    private long gapNanos = MOST_ALONE_NANOS;

    /** Whether no thread has entered since the last one left, other than a reader or for a condition. */
    private boolean isIdle;

    /** When the last thread left. */
    private volatile long leftNanos;

    /** For how long the name is kept then, as long as nobody else wants it. Written before {@link #leftNanos}. */
    private long aloneNanos;

    /** For how long it is kept while others wait. Written before {@link #leftNanos}. */
    private long wantedNanos;

    /**
     * Creates it.
     *
     * @param endsTurns whether a turn is over as soon as others wait
     * @param retainMillis for how long a name is kept in any case while nobody else wants it, or 0
     * @param adapts whether it is kept for threads that are likely to come
     */
    KeepPolicy(long sliceNanos, boolean endsTurns, long retainMillis, boolean adapts) {
        this.sliceNanos = sliceNanos;
        this.endsTurns = endsTurns;
        this.retainNanos = TimeUnit.MILLISECONDS.toNanos(retainMillis);
        this.adapts = adapts;
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

    // ---- names that no thread wants

    /**
     * A thread leaves a name that no other one of the session waits for. Returns whether it is kept.
     *
     * @param isOften whether the next gap may be like those before: the thread doesn't wait for a condition, threads
     *     needn't come in their order, and no plain {@code RLock} client is about
     */
    boolean keeps(LockTenure current, boolean isOften, long now) {
        isIdle = isOften;
        boolean isLikely = adapts && isOften;
        long mostAlone = Math.min(MOST_ALONE_NANOS, sliceNanos);
        long mostWanted = Math.min(HAND_OFF_NANOS, turnLeftNanos(current, now));
        aloneNanos = retainNanos > 0 ? retainNanos : isLikely && 2 * gapNanos < mostAlone ? mostAlone : 0;
        wantedNanos = isLikely && gapNanos < mostWanted ? mostWanted : 0;
        leftNanos = now;
        return isKept(current, now);
    }

    /** As {@link #keeps}, of readers: what they leave is kept for a slice if nobody else wants it. */
    boolean keepsForReaders(LockTenure current, long now) {
        isIdle = false;
        aloneNanos = sliceNanos;
        wantedNanos = 0;
        leftNanos = now;
        return isKept(current, now);
    }

    /** Returns whether a name is kept yet that no thread has entered since the last one left. */
    boolean isKept(LockTenure current, long now) {
        return keptUntilNanos(current) - now > 0;
    }

    /** Returns until when it is kept: for a shorter time as soon as others wait. */
    long keptUntilNanos(LockTenure current) {
        return leftNanos + (current.demand ? wantedNanos : aloneNanos);
    }

    /**
     * A thread enters that has wanted to since then, or was about to.
     *
     * @param wantsSinceNanos when it came
     */
    void entered(long wantsSinceNanos) {
        if (isIdle) {
            isIdle = false;
            long gap = Math.min(Math.max(0, wantsSinceNanos - leftNanos), MOST_ALONE_NANOS);
            long longer = gap - gapNanos;
            gapNanos += longer / (longer > 0 ? LONGER_PART : SHORTER_PART);
        }
    }

    /** A name that was kept is given up to another session, since that wants it. */
    void keptInVain() {
        if (isIdle && gapNanos >= HAND_OFF_NANOS) {
            gapNanos = MOST_ALONE_NANOS;
        }
    }
}
