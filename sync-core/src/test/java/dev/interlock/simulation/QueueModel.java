package dev.interlock.simulation;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What {@link java.util.concurrent.locks.AbstractQueuedSynchronizer} does for a JDK superclass: a queue of actors, of
 * which the first one tries again when it is woken.
 */
final class QueueModel {
    static final long FOREVER = Long.MAX_VALUE;

    /** A thread in the queue, and whether it wants to share. */
    private record Node(Thread thread, boolean shares) {}

    private final Jvm jvm;
    private final Deque<Node> nodes = new ArrayDeque<>();

    QueueModel(Jvm jvm) {
        this.jvm = jvm;
    }

    /** Other threads may get on first. */
    void preempt() {
        Actor actor = jvm.actorOf(Thread.currentThread());
        if (actor != null) {
            actor.preempt();
        }
    }

    /** Queues the current thread until it takes what it wants. */
    void await(boolean shares, BooleanSupplier take) {
        boolean interrupted = false;
        Node own = add(shares);
        while (!takeAsFirst(own, take)) {
            park(FOREVER);
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Queues the current thread until it takes what it wants, unless it is interrupted or its time is over. */
    boolean await(boolean shares, BooleanSupplier take, long waitNanos, long startNanos) throws InterruptedException {
        Node own = add(shares);
        boolean taken = false;
        try {
            while (!takeAsFirst(own, take)) {
                long left = waitNanos == FOREVER ? FOREVER : waitNanos - (jvm.clock() - startNanos);
                if (left <= 0) {
                    return false;
                }
                park(left);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            taken = true;
            return true;
        } finally {
            if (!taken) {
                nodes.remove(own);
                wakeFirst();
            }
        }
    }

    private Node add(boolean shares) {
        Node own = new Node(Thread.currentThread(), shares);
        nodes.add(own);
        return own;
    }

    // One that shares wakes the next one that wants to.
    private boolean takeAsFirst(Node own, BooleanSupplier take) {
        if (!own.equals(nodes.peek()) || !take.getAsBoolean()) {
            return false;
        }
        nodes.remove();
        if (own.shares && !isFirstExclusive()) {
            wakeFirst();
        }
        return true;
    }

    private void park(long nanos) {
        jvm.thread("wait for a thread").park(this, nanos);
    }

    /** The first one tries again. */
    void wakeFirst() {
        Node first = nodes.peek();
        Actor actor = first == null ? null : jvm.actorOf(first.thread);
        if (actor != null) {
            actor.unpark();
        }
    }

    boolean isEmpty() {
        return nodes.isEmpty();
    }

    /** Returns whether the current thread would have to queue behind others. */
    boolean hasPredecessors() {
        @Nullable Node first = nodes.peek();
        return first != null && first.thread != Thread.currentThread();
    }

    /** Returns whether the first one doesn't want to share. */
    boolean isFirstExclusive() {
        @Nullable Node first = nodes.peek();
        return first != null && !first.shares;
    }

    /** Returns the threads that wait, the one that has waited longest first. */
    List<Thread> threads() {
        return nodes.stream().map(Node::thread).toList();
    }

    boolean contains(Thread thread) {
        return nodes.stream().anyMatch(node -> node.thread == thread);
    }

    @Override
    public String toString() {
        return "the local half";
    }
}
