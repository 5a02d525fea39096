package dev.interlock.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time, and whose turn it is. At any moment one thread runs: the one that runs the events, or the actor to
 * which it has given its turn. So a run depends on nothing but what it was given.
 */
final class Scheduler {
    /** What happens at some time; of two at the same time, the one that was planned first. */
    private record Event(long atNanos, long number, Runnable action) {}

    private static final long MOST_AT_ONCE = 100_000;

    private final PriorityQueue<Event> events = new PriorityQueue<>(
            (a, b) -> a.atNanos != b.atNanos ? Long.compare(a.atNanos, b.atNanos) : Long.compare(a.number, b.number));
    private final List<Actor> actors = new ArrayList<>();
    private final Semaphore turn = new Semaphore(0);
    private long nanos;
    private long lastNumber;
    private long eventsAtOnce;
    private long draws;
    private @Nullable Actor current;

    /** Returns how much virtual time has passed. */
    long nanos() {
        return nanos;
    }

    /** Plans an event. */
    void after(long delayNanos, Runnable action) {
        events.add(new Event(nanos + Math.max(0, delayNanos), ++lastNumber, action));
    }

    /** Runs the next event, unless that comes later; returns whether it did. */
    boolean step(long untilNanos) {
        Event next = events.peek();
        if (next == null || next.atNanos > untilNanos) {
            return false;
        }
        events.remove();
        eventsAtOnce = next.atNanos == nanos ? eventsAtOnce + 1 : 0;
        if (eventsAtOnce > MOST_AT_ONCE) {
            throw new Violation("something goes on without end, and no time passes");
        }
        nanos = next.atNanos;
        next.action.run();
        return true;
    }

    /**
     * Lets time pass if nothing happens meanwhile. Spares the actor whose turn it is to give that away, which takes
     * longer than most of what it does.
     */
    boolean pass(long delayNanos) {
        Event next = events.peek();
        if (next != null && next.atNanos <= nanos + delayNanos) {
            return false;
        }
        nanos += delayNanos;
        return true;
    }

    /** A JVM draws a random number. */
    void draws(int jvm) {
        draws = 31 * draws + jvm + 1;
    }

    /** Returns which JVMs have drawn random numbers, in their order, as a hash code. */
    long draws() {
        return draws;
    }

    /** Returns the actor whose turn it is, or null while an event runs. */
    @Nullable
    Actor current() {
        return current;
    }

    /** Returns the actors so far. */
    List<Actor> actors() {
        return actors;
    }

    void add(Actor actor) {
        actors.add(actor);
    }

    /** Gives the turn to an actor, and has it back when that sleeps or has finished. */
    void run(Actor actor) {
        current = actor;
        actor.takeTurn();
        turn.acquireUninterruptibly();
        current = null;
        actor.rethrow();
    }

    /** Gets the turn back. */
    void giveBack() {
        turn.release();
    }
}
