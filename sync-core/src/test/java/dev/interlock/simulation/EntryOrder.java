package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Sees in which order threads get what they wait for, and says when one has to wait for longer than is promised. */
final class EntryOrder {
    /** No order is promised. */
    static final int NONE = Integer.MAX_VALUE;

    /** A thread that has called this much earlier comes first: what commands and messages take. */
    private static final long ORDER_NANOS = 100_000_000;

    /** A thread that waits without end. */
    private static final class Arrival {
        final Actor actor;
        final long atNanos;

        /** How many have got on first that came later. */
        int overtaken;

        Arrival(Actor actor, long atNanos) {
            this.actor = actor;
            this.atNanos = atNanos;
        }
    }

    private final Scheduler scheduler;
    private final int mostOvertaken;
    private final List<Arrival> arrivals = new ArrayList<>();

    /**
     * Creates the order of one name.
     *
     * @param mostOvertaken how often threads that call later may get on first, or {@link #NONE}
     */
    EntryOrder(Scheduler scheduler, int mostOvertaken) {
        this.scheduler = scheduler;
        this.mostOvertaken = mostOvertaken;
    }

    /** A thread begins to wait without end. */
    void called(Actor actor) {
        if (mostOvertaken < NONE) {
            arrivals.add(new Arrival(actor, scheduler.nanos()));
        }
    }

    /** A thread has got what it has called for. */
    void entered(Actor actor) {
        Arrival own = arrivals.stream()
                .filter(arrival -> arrival.actor == actor)
                .findFirst()
                .orElse(null);
        if (own == null) {
            return;
        }
        arrivals.remove(own);
        for (Arrival other : arrivals) {
            if (own.atNanos - other.atNanos > ORDER_NANOS && ++other.overtaken > mostOvertaken) {
                throw new Violation(String.format(
                        Locale.ROOT,
                        "%s has entered a fair lock before %s, which called %d ms before, overtaken %d times",
                        actor.name(),
                        other.actor.name(),
                        (own.atNanos - other.atNanos) / 1_000_000,
                        other.overtaken));
            }
        }
    }

    /** A thread doesn't wait any more. */
    void ended(Actor actor) {
        arrivals.removeIf(arrival -> arrival.actor == actor);
    }
}
