package dev.interlock.internal.semaphore;

import com.google.common.primitives.Ints;
import java.util.concurrent.CompletableFuture;

/** What a thread wants a semaphore to do once. */
final class Operation extends Taking {
    enum Verb {
        /** Compares the number of permits. */
        JOIN,
        /** Tells how many permits the pool has. It has less than none after a reduction. */
        LOOK,
        /** Takes permits if the pool has them now, even if others wait for them. */
        TAKE,
        /** Takes all permits that the pool has. */
        DRAIN,
        /** Changes how many permits there are in all, and so those in the pool by the difference. */
        RESIZE
    }

    final Verb verb;
    final int amount;

    /**
     * Completes by what the pool has answered: negative if there was nothing to be taken. One that is cancelled before
     * gives back what it takes.
     */
    final CompletableFuture<Integer> result = new CompletableFuture<>();

    /** By which the account knows it; 0 if it was not sent in this epoch. */
    long number;

    /** How many permits the thread has got at once, because the session had them. */
    int fromStock;

    Operation(Verb verb, int amount) {
        this.verb = verb;
        this.amount = amount;
    }

    /** Returns whether it gives the session permits. */
    boolean takes() {
        return verb == Verb.TAKE || verb == Verb.DRAIN;
    }

    /** Returns how many permits a result brings. */
    int brought(long outcome) {
        return takes() ? Math.max(0, Ints.saturatedCast(outcome)) : 0;
    }
}
