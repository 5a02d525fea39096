package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Sees who comes to a barrier and who passes. */
final class BarrierWitness implements Witness {
    private static final long NOT_YET = Long.MAX_VALUE;
    private static final long NEVER = Long.MIN_VALUE;

    /** A thread that has come. */
    private static final class Arrival {
        final Actor actor;
        final boolean waitsForever;
        final long begunNanos;
        /** When it has passed; as long as it isn't known to have passed or not, it may be counted. */
        long endNanos = NOT_YET;

        boolean hasEnded;

        Arrival(Actor actor, boolean waitsForever, long begunNanos) {
            this.actor = actor;
            this.waitsForever = waitsForever;
            this.begunNanos = begunNanos;
        }
    }

    /** The action was run: by then all parties of a generation have arrived. */
    private record Run(long nanos, Set<Integer> passed) {}

    private final Scheduler scheduler;
    private final Trace trace;
    private final int parties;
    private final boolean acts;
    private final boolean hasFaults;
    private final boolean isExact;
    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();
    private final long[] passed;
    private boolean mayBeBroken;
    private long entries;

    /**
     * Creates the witness of a barrier.
     *
     * @param isExact whether nothing happens that makes Redis forget who has arrived
     */
    BarrierWitness(Scheduler scheduler, Trace trace, int parties, boolean acts, boolean hasFaults, boolean isExact) {
        this.scheduler = scheduler;
        this.trace = trace;
        this.parties = parties;
        this.acts = acts;
        this.hasFaults = hasFaults;
        this.isExact = isExact;
        this.mayBeBroken = hasFaults;
        this.passed = new long[parties];
    }

    /** A thread comes. */
    void comes(Actor actor, boolean waitsForever) {
        arrivals.add(new Arrival(actor, waitsForever, scheduler.nanos()));
        mayBeBroken |= !waitsForever;
    }

    private Arrival end(Actor actor, boolean hasPassed) {
        for (Arrival arrival : arrivals) {
            if (arrival.actor == actor && !arrival.hasEnded) {
                arrival.hasEnded = true;
                arrival.endNanos = hasPassed ? scheduler.nanos() : NEVER;
                return arrival;
            }
        }
        throw new IllegalStateException("it has not come");
    }

    /** A thread runs the action. */
    void acts(Actor actor) {
        trace.add(actor.jvm(), "runs the action");
        checkPresent(scheduler.nanos());
        runs.add(new Run(scheduler.nanos(), new HashSet<>()));
    }

    /** A thread has passed, with its index of arrival. */
    void passed(Actor actor, int index) {
        trace.add(actor.jvm(), "passes with index %d", index);
        Arrival own = end(actor, true);
        checkPresent(own.begunNanos);
        entries++;
        passed[index]++;
        if (acts && runs.stream().noneMatch(run -> run.nanos >= own.begunNanos && run.passed.add(index))) {
            throw new Violation(actor.name() + " has passed with index " + index + ", but no action was run for it");
        }
    }

    // Since that time, as many threads as there are parties must have been there; each counts once, however often it
    // has come and gone.
    private void checkPresent(long nanos) {
        long present = arrivals.stream()
                .filter(arrival -> arrival.endNanos >= nanos)
                .map(arrival -> arrival.actor)
                .distinct()
                .count();
        if (isExact && present < parties) {
            throw new Violation("Only " + present + " of " + parties + " parties are there");
        }
    }

    /** A thread's time is over, so that it has broken its generation. */
    void breaks(Actor actor) {
        end(actor, false);
    }

    /** A thread's generation was broken. */
    void isBroken(Actor actor) {
        end(actor, false);
        if (!mayBeBroken) {
            throw new Violation(actor.name() + " finds the barrier broken, which nobody has broken");
        }
    }

    /** The barrier is about to be reset. */
    void resets() {
        mayBeBroken = true;
    }

    // Death, an interrupt, a closed session or silence ends the call: nobody knows what became of its generation.
    @Override
    public void ended(Actor actor) {
        for (Arrival arrival : arrivals) {
            if (arrival.actor == actor) {
                arrival.hasEnded = true;
            }
        }
    }

    // Fewer threads than there are parties never pass; as many do.
    @Override
    public List<Op> rescue(int subject) {
        long waiting = arrivals.stream()
                .filter(arrival -> arrival.waitsForever && !arrival.hasEnded)
                .count();
        return waiting > 0 && waiting < parties ? List.of(new Op(Call.RESET, subject, 0, 0, 0)) : List.of();
    }

    // All parties of a generation have passed.
    @Override
    public List<Op> finale(int subject) {
        for (long ofIndex : passed) {
            if (!hasFaults && ofIndex != passed[0]) {
                throw new Violation("Of generations that have tripped, not all parties have passed");
            }
        }
        if (!hasFaults && runs.stream().anyMatch(run -> run.passed.size() != parties)) {
            throw new Violation("The action was run for a generation that not all parties have passed");
        }
        return List.of();
    }

    @Override
    public long entries() {
        return entries;
    }
}
