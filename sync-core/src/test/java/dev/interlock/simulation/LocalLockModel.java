package dev.interlock.simulation;

import dev.interlock.internal.lock.LocalLock;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * What a lock's JDK superclass does for it: {@link java.util.concurrent.locks.ReentrantLock}, whose queue is a queue of
 * actors here. As there, a thread that comes may overtake those that were woken, unless the lock is fair.
 */
final class LocalLockModel implements LocalLock {
    private static final long FOREVER = Long.MAX_VALUE;

    private final Jvm jvm;
    private final boolean fair;
    private final Deque<Thread> queue = new ArrayDeque<>();
    private @Nullable Thread owner;
    private int holds;

    LocalLockModel(Jvm jvm, boolean fair) {
        this.jvm = jvm;
        this.fair = fair;
    }

    private Actor actor() {
        Actor actor = jvm.actorOf(Thread.currentThread());
        if (actor == null) {
            throw new Violation("a task of the session would wait for a thread");
        }
        return actor;
    }

    /** Other threads may get on first. */
    private void preempt() {
        Actor actor = jvm.actorOf(Thread.currentThread());
        if (actor != null) {
            actor.preempt(8);
        }
    }

    private boolean take() {
        Thread thread = Thread.currentThread();
        if (owner == null || owner == thread) {
            owner = thread;
            holds++;
            return true;
        }
        return false;
    }

    @Override
    public void lock() {
        preempt();
        if (!takeOrQueue()) {
            boolean interrupted = false;
            while (!takeFirst()) {
                actor().park(this, FOREVER);
                interrupted |= Thread.interrupted();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean takeOrQueue() {
        if ((owner == Thread.currentThread() || !fair || queue.isEmpty()) && take()) {
            return true;
        }
        queue.add(Thread.currentThread());
        return false;
    }

    private boolean takeFirst() {
        if (queue.peek() == Thread.currentThread() && take()) {
            queue.remove();
            return true;
        }
        return false;
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        lockFor(FOREVER);
    }

    @Override
    public boolean tryLock(long waitNanos) throws InterruptedException {
        return lockFor(waitNanos);
    }

    private boolean lockFor(long waitNanos) throws InterruptedException {
        preempt();
        long start = jvm.clock();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        if (takeOrQueue()) {
            return true;
        }
        boolean taken = false;
        try {
            while (!takeFirst()) {
                long left = waitNanos == FOREVER ? FOREVER : waitNanos - (jvm.clock() - start);
                if (left <= 0) {
                    return false;
                }
                actor().park(this, left);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
            taken = true;
            return true;
        } finally {
            if (!taken) {
                queue.remove(Thread.currentThread());
                wakeFirst();
            }
        }
    }

    @Override
    public boolean tryLock() {
        preempt();
        return take();
    }

    @Override
    public void unlock() {
        if (owner != Thread.currentThread()) {
            throw new IllegalMonitorStateException("not the owner");
        }
        preempt();
        holds--;
        if (holds == 0) {
            owner = null;
            wakeFirst();
            preempt();
        }
    }

    private void wakeFirst() {
        Thread first = queue.peek();
        Actor actor = first == null || owner != null ? null : jvm.actorOf(first);
        if (actor != null) {
            actor.unpark();
        }
    }

    @Override
    public int holds() {
        return owner == Thread.currentThread() ? holds : 0;
    }

    @Override
    public boolean isHeld() {
        return owner != null;
    }

    @Override
    public boolean isWanted() {
        return !queue.isEmpty();
    }

    @Override
    public boolean isQueued(Thread thread) {
        return queue.contains(thread);
    }

    @Override
    public boolean isAnnounced() {
        return fair;
    }

    @Override
    public String toString() {
        return "the local half";
    }
}
