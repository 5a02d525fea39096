package dev.interlock.simulation;

import dev.interlock.internal.semaphore.LocalSemaphore;
import java.util.List;

/**
 * What a semaphore's JDK superclass does for it: a fair {@link java.util.concurrent.Semaphore}, whose queue is one of
 * actors here.
 */
final class LocalSemaphoreModel implements LocalSemaphore {
    private final ActorQueue queue;
    private int permits;

    LocalSemaphoreModel(Jvm jvm) {
        this.queue = new ActorQueue(jvm, "the local half of a semaphore");
    }

    @Override
    public void acquire(int wanted) throws InterruptedException {
        acquire(wanted, true, ActorQueue.FOREVER);
    }

    @Override
    public void acquireUninterruptibly(int wanted) {
        try {
            acquire(wanted, false, ActorQueue.FOREVER);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public boolean tryAcquire(int wanted, long waitNanos) throws InterruptedException {
        return acquire(wanted, true, waitNanos);
    }

    private boolean acquire(int wanted, boolean interruptible, long waitNanos) throws InterruptedException {
        queue.preempt();
        if (interruptible && Thread.interrupted()) {
            throw new InterruptedException();
        }
        boolean acquired = (queue.isEmpty() && tryAcquire(wanted))
                || (waitNanos > 0 && queue.await(() -> tryAcquire(wanted), interruptible, waitNanos));
        queue.preempt();
        return acquired;
    }

    @Override
    public boolean tryAcquire(int wanted) {
        if (permits < wanted) {
            return false;
        }
        permits -= wanted;
        return true;
    }

    @Override
    public void release(int more) {
        permits += more;
        queue.wakeFirst();
    }

    @Override
    public int availablePermits() {
        return permits;
    }

    @Override
    public int drainPermits() {
        int all = permits;
        permits = 0;
        return all;
    }

    @Override
    public List<Thread> queuedThreads() {
        return queue.threads();
    }
}
