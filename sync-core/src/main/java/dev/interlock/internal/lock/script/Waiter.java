package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.RemoteConditions;
import dev.interlock.internal.lock.RemoteLock;
import dev.interlock.internal.lock.Tenure;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A thread that waits for a condition, from when it is about to give the lock up until it has it back. Its state is
 * part of the {@link LockState}, except for what is volatile.
 */
final class Waiter implements RemoteConditions.Wait {
    /** How the wait ended, as Redis has decided it. */
    enum Outcome {
        /** It was signalled, or nobody knows of it any more. */
        SIGNALLED,
        /** It had to leave before it was signalled. */
        LEFT,
        /** When the lock was given up, it had been lost. */
        LOST,
        /** Redis refuses to be asked about it. */
        REFUSED,
        CLOSED
    }

    final Thread thread;
    final String condition;
    final long sequence;
    final long sinceNanos;

    /** The lease with which the lock is taken back, {@link RemoteLock#RENEWED} or a fixed one. */
    final long leaseMillis;

    /** As scripts know it. */
    final String text;

    /** Whether Redis may know of it. */
    boolean isRegistered;

    /** Whether Redis has said that it does. */
    boolean isConfirmed;

    /** The tenure that its thread has given up, rather than left to others of the session. */
    @Nullable
    Tenure released;

    /** Whether that was over before, or lost. */
    boolean isLost;

    /** Whether it is to leave, unless it has been signalled. */
    boolean isLeaving;

    /** The waiter that was done with waiting just before it, and is to queue for the local half before it. */
    private @Nullable Waiter predecessor;

    /** The waiter that was done with waiting just after it. */
    @Nullable
    Waiter successor;

    /** Whether it is about to queue for the local half. */
    private boolean isLiningUp;

    /** Whether it has had the local half. */
    volatile boolean isThrough;

    /** Whether it is counted among those that are about to queue for the local half. */
    boolean isArriving;

    /** When the last command was first sent that found it waiting, or made it wait. */
    private long waitingNanos;

    /** Wakes the thread, once it sleeps. */
    volatile @Nullable Runnable wakeUp;

    volatile @Nullable Outcome outcome;

    /** Why Redis has refused it. Written before the outcome. */
    @Nullable
    Throwable refusal;

    /**
     * A thread is about to wait.
     *
     * @param ticket of the tenure on which it has entered
     * @param position its place among all that wait for conditions of the lock
     */
    Waiter(Thread thread, String condition, long sequence, Ticket ticket, String position, long nowNanos) {
        this.thread = thread;
        this.condition = condition;
        this.sequence = sequence;
        this.leaseMillis = ticket.renewed ? RemoteLock.RENEWED : ticket.leaseMillis;
        this.text = condition + ":" + position + ":" + sequence + ":" + ticket.grantMillis;
        this.sinceNanos = nowNanos;
        this.waitingNanos = nowNanos;
    }

    /**
     * Returns whether its thread had lost the lock before it gave it up, now that the release has found no owner. If
     * the lease is over by now, the release may merely have come too late: that isn't taken for a loss.
     */
    boolean hadLost(long nowNanos) {
        return isLost || (released != null && !released.isOver(nowNanos));
    }

    void waitsAt(long sentNanos) {
        waitingNanos = sentNanos - waitingNanos > 0 ? sentNanos : waitingNanos;
    }

    /** Returns whether Redis can be asked about it: it has confirmed it, or had that much time to. */
    boolean isKnown(long nowNanos, long silenceNanos) {
        return isConfirmed || (isRegistered && nowNanos - waitingNanos >= silenceNanos);
    }

    /**
     * It is done with waiting, after that other one. Returns whether its thread is to be woken, which otherwise is when
     * that one has lined up.
     */
    boolean end(Outcome how, @Nullable Waiter ahead) {
        if (ahead != null && !ahead.isThrough) {
            predecessor = ahead;
            ahead.successor = this;
        }
        outcome = how;
        return predecessor == null || predecessor.isLiningUp;
    }

    /** The thread queues for the local half now. Returns the waiter that queues before it. */
    Optional<Waiter> lineUp() {
        isLiningUp = true;
        Waiter ahead = predecessor;
        predecessor = null;
        return Optional.ofNullable(ahead);
    }

    /** The thread has the local half. */
    void arrived() {
        isThrough = true;
        successor = null;
    }

    /** Wakes the thread, which looks at the outcome. */
    void wake() {
        Runnable sleeping = wakeUp;
        if (sleeping != null) {
            sleeping.run();
        }
    }

    long waitingNanos() {
        return waitingNanos;
    }
}
