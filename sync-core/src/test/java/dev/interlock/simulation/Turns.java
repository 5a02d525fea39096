package dev.interlock.simulation;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sees whether a session gives a lock to others that wait when its turn is over. */
final class Turns {
    /** Nothing is promised. */
    static final long ENDLESS = Long.MAX_VALUE / 2;

    /** What commands and messages take, and threads that are not scheduled at once. */
    private static final long GRACE_NANOS = 1_000_000_000;

    private final Scheduler scheduler;
    private final long sliceNanos;

    /** The threads that wait without end, and since when. */
    private final Map<Actor, Long> waiting = new HashMap<>();

    /** Whose turn it is, and since when. */
    private @Nullable Jvm owner;

    private long begunNanos;

    /**
     * Creates those of one name.
     *
     * @param sliceNanos how long a turn lasts although others wait, or {@link #ENDLESS}
     */
    Turns(Scheduler scheduler, long sliceNanos) {
        this.scheduler = scheduler;
        this.sliceNanos = sliceNanos;
    }

    /** A thread begins to wait without end. */
    void called(Actor actor) {
        waiting.put(actor, scheduler.nanos());
    }

    /** A thread doesn't wait any more. */
    void ended(Actor actor) {
        waiting.remove(actor);
    }

    /** A thread has waited for a condition, and is inside. */
    void returned(Actor actor) {
        if (actor.jvm() != owner) {
            owner = actor.jvm();
            begunNanos = scheduler.nanos();
        }
    }

    /** A thread has entered that was not inside. */
    void entered(Actor actor) {
        waiting.remove(actor);
        returned(actor);
        long now = scheduler.nanos();
        waiting.forEach((other, sinceNanos) -> {
            long longer = now - Math.max(begunNanos, sinceNanos) - sliceNanos;
            if (other.jvm() != owner && longer > GRACE_NANOS) {
                throw new Violation(String.format(
                        Locale.ROOT,
                        "%s has entered %d ms after the end of its turn, although %s waits",
                        actor.name(),
                        longer / 1_000_000,
                        other.name()));
            }
        });
    }
}
