package dev.interlock.internal.lock.script;

import com.google.common.base.Strings;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.session.RemoteWait;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for a condition, from when it is about to give the lock up until it has it back. Guarded by the
 * mutex of the claim, but for the outcome, for which the thread waits.
 */
final class ConditionWaiter implements RemoteLock.Conditions.Wait {
    /** How the wait ended, as Redis has decided it. */
    enum Outcome {
        /** It was signalled, or nobody knows of it any more. */
        SIGNALLED,
        /** It had to leave before it was signalled. */
        LEFT,
        /** When the lock was given up, it had been lost. */
        LOST,
        CLOSED
    }

    final Thread thread;
    final String condition;
    final long sequence;

    /** The lease with which the lock is taken back, {@link RemoteLock#RENEWED} or a fixed one. */
    final long leaseMillis;

    /** As scripts know it. */
    final String text;

    /** Whether Redis may know of it. */
    boolean isRegistered;

    /** Whether Redis has said that it does. */
    boolean isConfirmed;

    /** Whether it is to leave, unless it has been signalled. */
    boolean isLeaving;

    /** Who was done with waiting just before it, and is to queue for the local half before it. */
    @Nullable
    ConditionWaiter predecessor;

    /** Who was done with waiting just after it. */
    @Nullable
    ConditionWaiter successor;

    /** Whether it is about to queue for the local half. */
    boolean isLiningUp;

    /** Whether it has had the local half. */
    volatile boolean isThrough;

    /** Whether it is counted among those that are about to queue for the local half. */
    boolean isArriving;

    /** When the last command was first sent that found it waiting, or made it wait. */
    private long waitingNanos;

    /** How the thread sleeps, once it does. */
    volatile @Nullable RemoteWait wait;

    volatile @Nullable Outcome outcome;

    /**
     * @param token the remote part of the tenure's token
     * @param number how many have begun to wait in that tenure before
     */
    ConditionWaiter(
            Thread thread,
            String condition,
            long sequence,
            long leaseMillis,
            long grantMillis,
            long token,
            int number,
            long nowNanos) {
        this.thread = thread;
        this.condition = condition;
        this.sequence = sequence;
        this.leaseMillis = leaseMillis;
        String position =
                Strings.padStart(Long.toString(token), 16, '0') + Strings.padStart(Integer.toString(number), 9, '0');
        this.text = condition + ":" + position + ":" + sequence + ":" + grantMillis;
        this.waitingNanos = nowNanos;
    }

    void waitsAt(long sentNanos) {
        waitingNanos = sentNanos - waitingNanos > 0 ? sentNanos : waitingNanos;
    }

    /** Has the thread look at the outcome. */
    void wake() {
        RemoteWait sleeping = wait;
        if (sleeping != null) {
            sleeping.wake();
        }
    }

    long waitingNanos() {
        return waitingNanos;
    }
}
