package dev.interlock.simulation;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sees whether threads wait for a lock that nobody has: one that was lost blocks nobody, whatever the thread does that
 * has lost it.
 */
final class Standstill {
    private static final long LOOK_NANOS = 500_000_000;

    private final Scheduler scheduler;
    private final Supplier<@Nullable Jvm> holder;
    private final long calmNanos;
    private final long soonNanos;
    private final long lateNanos;

    /** Since when threads wait. */
    private final Map<Actor, Long> waiting = new LinkedHashMap<>();

    private @Nullable Jvm lastHolder;
    private long lastHeldNanos;
    private boolean isLooking;

    /**
     * Creates what looks at one name.
     *
     * @param holder the JVM of a thread that has the lock and hasn't lost it, or null
     * @param calmNanos when all that goes wrong is over
     * @param soonNanos how long a thread waits at the most when one of its own JVM has lost the lock
     * @param lateNanos how long any other waits
     */
    Standstill(Scheduler scheduler, Supplier<@Nullable Jvm> holder, long calmNanos, long soonNanos, long lateNanos) {
        this.scheduler = scheduler;
        this.holder = holder;
        this.calmNanos = calmNanos;
        this.soonNanos = soonNanos;
        this.lateNanos = lateNanos;
    }

    /** A thread begins to wait. */
    void waits(Actor actor) {
        waiting.put(actor, scheduler.nanos());
        if (!isLooking) {
            isLooking = true;
            scheduler.after(LOOK_NANOS, this::look);
        }
    }

    /** A thread has entered. */
    void entered(Actor actor) {
        ended(actor);
        lastHolder = actor.jvm();
        lastHeldNanos = scheduler.nanos();
    }

    /** A thread doesn't wait any more. */
    void ended(Actor actor) {
        waiting.remove(actor);
    }

    private void look() {
        Jvm current = holder.get();
        if (current != null) {
            lastHolder = current;
            lastHeldNanos = scheduler.nanos();
        }
        waiting.forEach(this::check);
        isLooking = !waiting.isEmpty();
        if (isLooking) {
            scheduler.after(LOOK_NANOS, this::look);
        }
    }

    private void check(Actor actor, long sinceNanos) {
        long begin = Math.max(Math.max(sinceNanos, lastHeldNanos), calmNanos);
        long idleNanos = scheduler.nanos() - begin;
        if (idleNanos > (actor.jvm() == lastHolder ? soonNanos : lateNanos)
                && !actor.jvm().isDead()) {
            throw new Violation(String.format(
                    Locale.ROOT,
                    "%s waits for a lock that nobody has had for %d ms",
                    actor.name(),
                    idleNanos / 1_000_000));
        }
    }
}
