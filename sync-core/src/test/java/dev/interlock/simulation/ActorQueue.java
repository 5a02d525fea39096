package dev.interlock.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;

/** The queue of a JDK superclass: threads of a simulated JVM that wait, the one that has waited longest first. */
final class ActorQueue {
    /** A wait that never ends by itself. */
    static final long FOREVER = Long.MAX_VALUE;

    private final Jvm jvm;
    private final String name;
    private final Deque<Thread> threads = new ArrayDeque<>();

    ActorQueue(Jvm jvm, String name) {
        this.jvm = jvm;
        this.name = name;
    }

    private Actor actor() {
        Actor actor = jvm.actorOf(Thread.currentThread());
        if (actor == null) {
            throw new Violation("a task of the session would wait for " + name);
        }
        return actor;
    }

    /** Other threads may get on first. */
    void preempt() {
        actor().preempt();
    }

    boolean isEmpty() {
        return threads.isEmpty();
    }

    List<Thread> threads() {
        return new ArrayList<>(threads);
    }

    /**
     * Has the current thread wait until it is the first and the attempt succeeds.
     *
     * @return false if the time was over before
     */
    boolean await(BooleanSupplier attempt, boolean interruptible, long waitNanos) throws InterruptedException {
        Thread thread = Thread.currentThread();
        long start = jvm.clock();
        boolean interrupted = false;
        threads.add(thread);
        try {
            while (threads.peek() != thread || !attempt.getAsBoolean()) {
                long left = waitNanos == FOREVER ? FOREVER : waitNanos - (jvm.clock() - start);
                if (left <= 0) {
                    return false;
                }
                actor().park(name, left);
                if (Thread.interrupted()) {
                    if (interruptible) {
                        throw new InterruptedException();
                    }
                    interrupted = true;
                }
            }
            return true;
        } finally {
            threads.remove(thread);
            wakeFirst();
            if (interrupted) {
                thread.interrupt();
            }
        }
    }

    /** Has the first thread attempt again. */
    void wakeFirst() {
        Thread first = threads.peek();
        Actor actor = first == null ? null : jvm.actorOf(first);
        if (actor != null) {
            actor.unpark();
        }
    }
}
