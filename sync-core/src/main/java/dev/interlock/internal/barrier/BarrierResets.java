package dev.interlock.internal.barrier;

import dev.interlock.internal.barrier.Arrival.Fate;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** The resets of a barrier by threads of one session, each with a number that only grows. */
final class BarrierResets {
    private record Reset(long number, CompletableFuture<Fate> done) {}

    private final List<Reset> pending = new ArrayList<>();
    private long latest;
    private long latestDone;

    /** Returns whether all are done. */
    boolean isEmpty() {
        return pending.isEmpty();
    }

    long latest() {
        return latest;
    }

    /** Returns the latest one that is known to be done. */
    long latestDone() {
        return latestDone;
    }

    /** The result completes when the reset is done, or will never be. */
    CompletableFuture<Fate> add(long number) {
        latest = number;
        Reset reset = new Reset(number, new CompletableFuture<>());
        pending.add(reset);
        return reset.done;
    }

    /** All up to this number are done. */
    void done(long number) {
        latestDone = Math.max(latestDone, number);
        for (Iterator<Reset> all = pending.iterator(); all.hasNext(); ) {
            Reset reset = all.next();
            if (reset.number <= latestDone) {
                reset.done.complete(Fate.TRIPPED);
                all.remove();
            }
        }
    }

    void endAll(Fate fate) {
        pending.forEach(reset -> reset.done.complete(fate));
        pending.clear();
    }
}
