package dev.interlock.internal.lock;

import dev.interlock.LeaseLostException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The interval in which a session owns a name, as far as it is the same for all locks: whether it is usable, and
 * whether a thread is inside.
 *
 * <p>A thread enters by taking the tenure, and frees it when it leaves and the session keeps the name. While no thread
 * is inside, the session may give the name up, on any thread and at any moment. It doesn't take the local half for
 * that, since threads that come would be refused. Instead it <em>closes</em> the tenure, with the mutex of its lock
 * held, and reopens it if a thread turns out to have the local half, or a share of it. A thread takes the local half
 * first and then looks whether the tenure is closed; so one of the two sees the other. A thread that finds the tenure
 * closed looks again with the mutex held: by then the tenure is either over or open.
 *
 * <p>A tenure that is lost while threads are inside is <em>abandoned</em>: they keep nobody out, see {@link Halves}.
 *
 * <p>So entering and leaving cost no atomic operation beside those of the local half.
 */
public abstract class Tenure {
    private static final AtomicIntegerFieldUpdater<Tenure> TAKERS =
            AtomicIntegerFieldUpdater.newUpdater(Tenure.class, "takers");

    /** 1 while a thread is inside, but for readers, which share the local half. Written by that thread. */
    private volatile int takers;

    /** Whether it is lost, and threads that were inside keep no others of their session out. */
    private volatile boolean abandoned;

    /** Whether no thread may enter. Written with the mutex of the lock held. */
    private volatile boolean closed;

    /** Returns whether it is certain that no other session owns the name then. */
    public abstract boolean isUsable(long nowNanos);

    /**
     * Returns whether it is lost, or its lease is over by the ticker. One that is neither over nor usable is in doubt
     * until Redis has been asked: the machine was suspended.
     */
    public boolean isOver(long nowNanos) {
        return !isUsable(nowNanos);
    }

    /** Returns the loss, if it was seen to be lost. */
    public abstract @Nullable LeaseLostException loss();

    /**
     * Returns when the lease in Redis of a lost tenure is over, by the session's ticker: at once, if Redis has said
     * that the name isn't the session's any more.
     */
    protected abstract long freeNanos();

    /**
     * Returns the token of the acquisition that is entered; 0 if there is none, or only Redis knows it. Other threads
     * than that which has the local half see it late.
     */
    public long token() {
        return 0;
    }

    /** Draws the token of the next acquisition; returns false if there can't be one. */
    protected boolean draw() {
        return true;
    }

    /** The current thread, which has the local half, enters. Returns false if it can't on this tenure. */
    public final boolean take(long nowNanos) {
        boolean enters = !closed && isUsable(nowNanos) && draw();
        if (enters) {
            // No fence: what must not miss this looks at the local half as well.
            TAKERS.lazySet(this, 1);
        }
        return enters;
    }

    /** The current thread enters, for which it was got, whatever has become of it meanwhile. */
    public final void takeAnyway() {
        TAKERS.lazySet(this, 1);
    }

    /** The thread that has taken it leaves. It frees the local half next. */
    public final void free() {
        TAKERS.lazySet(this, 0);
    }

    /** Returns whether a thread has taken it, and others have to wait for that. */
    public final boolean isTaken() {
        return takers != 0 && !abandoned;
    }

    /** Has no thread enter. */
    public final void close() {
        closed = true;
    }

    /** Undoes {@link #close}. */
    public final void reopen() {
        closed = false;
    }

    /** Returns whether it is closed. */
    public final boolean isClosed() {
        return closed;
    }

    /** It is lost, and threads that are inside keep out no others of their session. */
    public final void abandon() {
        abandoned = true;
    }

    /** Returns whether threads were inside when it was lost. */
    public final boolean isAbandoned() {
        return abandoned;
    }

    /**
     * Returns for how long no other thread of the session may enter: those that were inside when this was lost may rely
     * on the lease until that is over in Redis, which is later than the session counts on it.
     */
    public final long reliedOnNanos(long nowNanos) {
        return isAbandoned() ? Math.max(0, freeNanos() - nowNanos) : 0;
    }
}
