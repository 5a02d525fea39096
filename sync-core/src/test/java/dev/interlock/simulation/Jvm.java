package dev.interlock.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A simulated JVM on a machine of its own: its clock, which may be fast or slow, its threads, and how it stops. */
final class Jvm {
    private static final long LATE_WAKE_UP_NANOS = 3_000_000;

    private final Scheduler scheduler;
    private final int number;
    private final String name;
    private final double clockRate;
    private final long clockStart;
    private final SplittableRandom random;
    private final IdentityHashMap<Thread, Actor> actors = new IdentityHashMap<>();

    /** Events that came while it was frozen. */
    private final Deque<Runnable> held = new ArrayDeque<>();

    private int freezes;
    private boolean isDead;

    Jvm(Scheduler scheduler, int number, double clockRate, SplittableRandom random) {
        this.scheduler = scheduler;
        this.number = number;
        this.name = "J" + number;
        this.clockRate = clockRate;
        // The clock overflows within the first seconds: only differences of its readings mean anything.
        this.clockStart = Long.MAX_VALUE - 1_000_000_000L * (1 + number);
        this.random = random;
    }

    int number() {
        return number;
    }

    String name() {
        return name;
    }

    Scheduler scheduler() {
        return scheduler;
    }

    SplittableRandom random() {
        scheduler.draws(number);
        return random;
    }

    /** Returns what its clock shows. */
    long clock() {
        return clockStart + (long) (scheduler.nanos() * clockRate);
    }

    /** Runs something after so long by its own clock, unless it has died. */
    void after(long nanos, Runnable action) {
        scheduler.after(delay(nanos), () -> arrive(action));
    }

    /** Lets that much time pass by its own clock if nothing happens meanwhile. */
    boolean pass(long nanos) {
        return scheduler.pass(delay(nanos));
    }

    // Rounded up: by its own clock, the time has passed then.
    private long delay(long nanos) {
        return nanos <= 0 ? 0 : (long) (nanos / clockRate) + 1;
    }

    /** Something happens to it now. */
    void arrive(Runnable action) {
        if (freezes > 0) {
            held.add(action);
        } else if (!isDead) {
            action.run();
        }
    }

    /** Stops all that it does, for so long. */
    void freeze(long nanos) {
        freezes++;
        scheduler.after(nanos, () -> {
            freezes--;
            int count = freezes > 0 ? 0 : held.size();
            for (int i = 0; i < count; i++) {
                Runnable action = held.remove();
                scheduler.after(0, () -> arrive(action));
            }
        });
    }

    /** Ends all that it does, for ever. */
    void die() {
        if (!isDead) {
            isDead = true;
            held.clear();
            for (Actor actor : List.copyOf(scheduler.actors())) {
                if (actor.jvm() == this) {
                    actor.kill();
                }
            }
        }
    }

    boolean isDead() {
        return isDead;
    }

    boolean isFrozen() {
        return freezes > 0;
    }

    void began(Actor actor) {
        actors.put(Thread.currentThread(), actor);
    }

    void ended(Actor actor) {
        actors.remove(Thread.currentThread(), actor);
    }

    /** Returns the actor that a thread of this JVM is. */
    @Nullable
    Actor actorOf(Thread thread) {
        return actors.get(thread);
    }

    /** Returns the actor that the current thread is; fails if that is a task of a session, which must not block. */
    Actor thread(String does) {
        Actor actor = actorOf(Thread.currentThread());
        if (actor == null || actor.runsTasks()) {
            throw new Violation("a task of the session would " + does);
        }
        return actor;
    }

    /** Returns how long a thread takes to wake up: some microseconds, rarely some milliseconds. */
    long wakeUpNanos() {
        return random.nextInt(20) == 0 ? random.nextLong(LATE_WAKE_UP_NANOS) : random.nextLong(1_000, 60_000);
    }
}
