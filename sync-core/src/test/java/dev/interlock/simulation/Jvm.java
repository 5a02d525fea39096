package dev.interlock.simulation;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A simulated JVM on a machine of its own: its clock, which may be fast or slow, its threads, and how it stops. */
final class Jvm {
    private static final long LATE_WAKE_UP_NANOS = 3_000_000;

    /** When it goes on after a suspension, that is noticed by then. */
    private static final long ORIENTATION_NANOS = 1_000_000_000;

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

    /** How long its clock has stood still, but for the last time; and when that began and ended, or will. */
    private long stillNanos;

    private long stillSinceNanos;
    private long stillUntilNanos;

    /** Whether it was suspended, and hadn't run for long enough since when it was last stopped. */
    private boolean isUnaware;

    private long runsSinceNanos;
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
        long now = scheduler.nanos();
        long still = stillNanos + Math.min(now, stillUntilNanos) - stillSinceNanos;
        return clockStart + (long) ((now - still) * clockRate);
    }

    /** Returns what the wall clock of its machine shows, which doesn't stand still. */
    Instant wallClock() {
        return Instant.ofEpochMilli((long) (scheduler.nanos() * clockRate) / 1_000_000);
    }

    /** Runs something after so long by its own clock, unless it has died. */
    void after(long nanos, Runnable action) {
        long due = clock() + nanos;
        scheduler.after(delay(nanos), () -> {
            long left = due - clock();
            if (stillUntilNanos > 0 && left > 0) {
                // Its clock has stood still meanwhile, or does so now.
                scheduler.after(Math.max(0, stillUntilNanos - scheduler.nanos()), () -> after(left, action));
            } else {
                arrive(action);
            }
        });
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
        isUnaware = isDisoriented();
        freezes++;
        scheduler.after(nanos, () -> {
            freezes--;
            runsSinceNanos = scheduler.nanos();
            int count = freezes > 0 ? 0 : held.size();
            for (int i = 0; i < count; i++) {
                Runnable action = held.remove();
                scheduler.after(0, () -> arrive(action));
            }
        });
    }

    /** Stops all that it does, for so long, and its clock. */
    void suspend(long nanos) {
        long now = scheduler.nanos();
        if (now >= stillUntilNanos) {
            stillNanos += stillUntilNanos - stillSinceNanos;
            stillSinceNanos = now;
        }
        stillUntilNanos = Math.max(stillUntilNanos, now + nanos);
        freeze(nanos);
        isUnaware = true;
    }

    /** Returns whether it has been suspended until just now, so that it may not know what is over. */
    boolean isDisoriented() {
        return isUnaware && (freezes > 0 || scheduler.nanos() - runsSinceNanos < ORIENTATION_NANOS);
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
