package dev.interlock.simulation;

import dev.interlock.internal.lock.Halves;
import dev.interlock.internal.lock.LocalLock;
import org.jspecify.annotations.Nullable;

/**
 * What a lock's JDK superclass does for it: {@link java.util.concurrent.locks.ReentrantLock}. As there, a thread that
 * comes may overtake those that were woken, unless the lock is fair.
 */
class LocalLockModel implements LocalLock {
    /** Makes the local half of a lock. */
    static Halves<LocalLock> halves(Jvm jvm, boolean fair) {
        return new Halves<>(new LocalLockModel(jvm, fair), fair, () -> new LocalLockModel(jvm, fair), jvm::clock);
    }

    final Jvm jvm;
    final boolean fair;
    final QueueModel queue;
    private @Nullable Thread owner;
    private int holds;

    LocalLockModel(Jvm jvm, boolean fair) {
        this.jvm = jvm;
        this.fair = fair;
        this.queue = new QueueModel(jvm);
    }

    /** Returns whether nothing else keeps a thread from taking it that no thread has. */
    boolean isFree() {
        return true;
    }

    private boolean take() {
        Thread thread = Thread.currentThread();
        if (owner == thread || (owner == null && isFree())) {
            owner = thread;
            holds++;
            return true;
        }
        return false;
    }

    private boolean takeAtOnce() {
        return (owner == Thread.currentThread() || !fair || queue.isEmpty()) && take();
    }

    @Override
    public boolean tryLock(long waitNanos) throws InterruptedException {
        queue.preempt();
        long start = jvm.clock();
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        return takeAtOnce() || queue.await(false, this::take, waitNanos, start);
    }

    @Override
    public boolean tryLock() {
        queue.preempt();
        return take();
    }

    @Override
    public void unlock() {
        if (owner != Thread.currentThread()) {
            throw new IllegalMonitorStateException("not the owner");
        }
        queue.preempt();
        holds--;
        if (holds == 0) {
            owner = null;
            queue.wakeFirst();
            queue.preempt();
        }
    }

    @Override
    public int holds() {
        return owner == Thread.currentThread() ? holds : 0;
    }

    @Override
    public boolean isHeld() {
        return isOwned();
    }

    /** Returns whether a thread has it whole. */
    public boolean isOwned() {
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
}
