package dev.interlock.internal.lock.script;

import dev.interlock.internal.lock.script.LockScripts.SignalReply;
import dev.interlock.internal.lock.script.ReliableRelease.Release;
import dev.interlock.internal.lock.script.TicketQueue.Ticket;
import java.util.concurrent.CompletableFuture;

/**
 * What the events of a {@link LockState} have its owner do. The state calls these with the mutex held, in the order in
 * which they have to happen; none of them blocks.
 */
interface LockEffects {
    /** Returns a sequence that is greater than all before. */
    long nextSequence();

    /** Keeps the name in the beat of the session. Returns false if the session is closed, and may have missed it. */
    boolean pin();

    /** Ends what {@link #pin} began: the session has no interest in the name any more. */
    void unpin();

    /** Listens on Redisson's channel, or doesn't any more. */
    void listen(boolean isForeign);

    /** Returns whether a command about tickets is in flight. */
    boolean isAsking();

    /** Returns when the command about tickets that is in flight is to be repeated, if it has no answer. */
    long repeatAtNanos();

    /** Sends a command about tickets: what {@link LockState#request} says. */
    void ask(long now);

    /** The same with the next answer or beat. */
    void askLater();

    /** Sends a command about waiters now, or when the one in flight has been answered. */
    void askForWaiters();

    /** Sends a command about waiters, unless one is in flight that may yet be answered. */
    void beatForWaiters();

    /** Makes a tenure of a ticket. */
    LockTenure begin(Ticket ticket, long token, long now, long sentNanos, long validUntilNanos);

    /** A request was refused because the owner of the name has not said whether a thread is inside. */
    void unanswered(long waitedNanos);

    /** Gives something up, and repeats that until Redis has confirmed it. */
    void release(Release release);

    /** As {@link ReliableRelease#giveBack}: gives back what a sequence has that nobody wants. */
    void giveBack(long sequence, long waiter, boolean isSignalLost);

    /** Does operations of a tenure that goes on. */
    CompletableFuture<SignalReply> signal(ConditionLog.Signals signals);
}
