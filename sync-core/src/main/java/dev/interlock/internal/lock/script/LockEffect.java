package dev.interlock.internal.lock.script;

import dev.interlock.LeaseLostException;
import dev.interlock.internal.lock.script.LockScripts.Release;
import dev.interlock.internal.lock.script.LockScripts.Signals;
import org.jspecify.annotations.Nullable;

/** A step that the owner of a {@link LockState} takes after an event. */
sealed interface LockEffect {
    /** Those without particulars. */
    enum Plain implements LockEffect {
        /** The session keeps the name in its beat. Should it be closed by now, it may have missed the name. */
        PIN,
        /** It has no interest in the name any more. */
        UNPIN,
        /** The session hears what is published on Redisson's channel. */
        LISTEN,
        /** It doesn't any more. */
        STOP_LISTENING,
        /** A command about tickets is sent, which says what {@link LockState#request} returns then. */
        ASK,
        /** The same, if it may be together with what is asked of other names. */
        ASK_TOGETHER,
        /** The same as {@link #ASK} with the next answer or beat. */
        ASK_LATER,
        /** A command about waiters is sent now, or when the one in flight has been answered. */
        ASK_FOR_WAITERS,
        /** A command about waiters is sent, unless one is in flight that may yet be answered. */
        BEAT_FOR_WAITERS,
        /** Threads that wait for an answer about the tenure have it. */
        CONFIRM,
        /** The leader looks at the state again. */
        WAKE,
        /** Others wait for the tenure: the leader, and threads that keep a name for later ones, look at that. */
        DEMANDED,
        /** No other session waits any more. */
        UNDEMANDED,
        /** A name that was kept for threads to come is given up, unless one has come. */
        CLEAN_UP,
        /** Readers that stay inside share the tenure with others. */
        SHARE
    }

    /** A tenure, or what was asked for, is given up; that is repeated until Redis has confirmed it. */
    record GiveUp(Release release) implements LockEffect {}

    /** As {@link ReliableRelease#giveBack}: gives back what a sequence has that nobody wants. */
    record GiveBack(long sequence, long waiter, boolean isSignalLost) implements LockEffect {}

    /** Operations of a tenure that goes on are sent ahead. */
    record Signal(Signals signals) implements LockEffect {}

    /**
     * The lease of a tenure is renewed.
     *
     * @param leaseMillis 0 for a fixed one: Redis is asked how much of it is left
     */
    record Renew(long sequence, long leaseMillis, long sentNanos) implements LockEffect {}

    /**
     * The listener hears of a renewal.
     *
     * @param leftNanos for how long the tenure is valid yet
     * @param failure why the renewal has failed, if it has
     */
    record Report(long leftNanos, @Nullable Throwable failure) implements LockEffect {}

    /**
     * The lock hears of a loss.
     *
     * @param isRelied whether threads relied on the tenure; null if the lock knows
     */
    record Lost(LeaseLostException loss, @Nullable Boolean isRelied) implements LockEffect {}

    /** A request was refused because the owner of the name has not said whether a thread is inside. */
    record Unanswered(long waitedNanos) implements LockEffect {}

    /** A waiter's thread looks at the outcome of its wait. */
    record WakeWaiter(Waiter waiter) implements LockEffect {}

    /** At that time {@link LockState#due} is called, unless it is called before. */
    record LookAt(long nanos) implements LockEffect {}
}
