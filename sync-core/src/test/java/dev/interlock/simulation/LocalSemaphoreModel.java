package dev.interlock.simulation;

import dev.interlock.internal.semaphore.LocalSemaphore;
import java.util.List;

/**
 * What a semaphore's JDK superclass does for it: a fair {@link java.util.concurrent.Semaphore}, whose queue is one of
 * actors here.
 */
final class LocalSemaphoreModel implements LocalSemaphore {
    private final Jvm jvm;
    private final QueueModel queue;
    private int permits;

    LocalSemaphoreModel(Jvm jvm) {
        this.jvm = jvm;
        this.queue = new QueueModel(jvm);
    }

    private boolean takeAtOnce(int wanted) {
        return queue.isEmpty() && tryAcquire(wanted);
    }

    @Override
    public void acquire(int wanted) throws InterruptedException {
        tryAcquire(wanted, QueueModel.FOREVER);
    }

    @Override
    public void acquireUninterruptibly(int wanted) {
        queue.preempt();
        if (!takeAtOnce(wanted)) {
            queue.await(true, () -> tryAcquire(wanted));
        }
        queue.preempt();
    }

    @Override
    public boolean tryAcquire(int wanted, long waitNanos) throws InterruptedException {
        queue.preempt();
        long start = jvm.clock();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        boolean acquired = takeAtOnce(wanted) || queue.await(true, () -> tryAcquire(wanted), waitNanos, start);
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
