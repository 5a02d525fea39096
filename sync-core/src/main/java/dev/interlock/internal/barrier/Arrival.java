package dev.interlock.internal.barrier;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A thread that has come to a barrier. All but its futures is used with the mutex of the barrier only. */
final class Arrival {
    /** What becomes of it. */
    enum Fate {
        /** It was the last one, and has to run the action now. */
        ACTS,
        TRIPPED,
        BROKEN,
        /** It has broken the generation itself. */
        BREAKER,
        CLOSED,
        REFUSED
    }

    final Thread thread;
    final long sinceNanos;

    /** Whether the object through which it came has an action. */
    final boolean acts;

    /** The version of the last command that was sent before it came: an answer to that says nothing of it. */
    long cameAfter;

    /**
     * Its fate, or that it has to run the action. The thread waits for it, and the owner of the state completes it; the
     * state doesn't use it.
     */
    final CompletableFuture<Fate> turn = new CompletableFuture<>();

    /** Its fate, in the same way. */
    final CompletableFuture<Fate> end = new CompletableFuture<>();

    /** Its fate, as soon as the state knows that. */
    @Nullable
    Fate fate;

    /** As which of all arrivals in its generation it was counted; 0 as long as it isn't known to be counted. */
    int place;

    /** Whether it wants its generation broken, unless that trips. */
    boolean leaves;

    /** Whether the thread has gone, before it could know how its generation ends. Then it {@link #leaves}. */
    boolean isAbandoned;

    /**
     * The thread that had {@linkplain #isAbandoned gone} when this one came. The generation is to be broken, unless it
     * has tripped without this one; so Redis is told of this one when it is known which.
     */
    @Nullable
    Arrival follows;

    /** Whether its action has reset the barrier. */
    boolean renewed;

    /** Why Redis has refused it, if that is its fate. */
    @Nullable
    Throwable failure;

    Arrival(Thread thread, boolean acts, long nowNanos) {
        this.thread = thread;
        this.sinceNanos = nowNanos;
        this.acts = acts;
    }

    boolean hasEnded() {
        return fate != null;
    }

    /** Returns whether its thread has gone, and its generation is still to be broken for it. */
    boolean awaitsBreakage() {
        return isAbandoned && !hasEnded();
    }

    /** Returns whether Redis may be told of it. */
    boolean mayBeTold() {
        return follows == null || follows.hasEnded();
    }
}
