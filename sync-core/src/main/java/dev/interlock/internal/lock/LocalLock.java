package dev.interlock.internal.lock;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The local half of a lock: what its superclass knows about the threads of this JVM, and lets them do. */
public interface LocalLock {
    /** Takes it if no thread has it. */
    boolean tryLock();

    /** Takes it if that becomes possible within the wait. */
    boolean tryLock(long waitNanos) throws InterruptedException;

    /** Gives it back, once. */
    void unlock();

    /** Returns how many times the current thread has it. */
    int holds();

    /** Returns whether the current thread has it, or a share of it. */
    default boolean isMine() {
        return holds() > 0;
    }

    /** Returns whether a thread has it, be it in its critical section or waiting for the remote half. */
    boolean isHeld();

    /** Returns whether threads are queued for it. */
    boolean isWanted();

    /** Returns whether that thread is queued for it. */
    boolean isQueued(Thread thread);

    /** Returns whether the remote half is to know of threads that are about to queue for it. */
    boolean isAnnounced();

    /** Returns the thread that has it and doesn't share it. */
    default @Nullable Thread owner() {
        return null;
    }

    /** Returns the threads that are queued for it, the next one first. */
    default List<Thread> queued() {
        return List.of();
    }

    /** Has the current thread, which has it, give up what it shares besides. Returns how many times. */
    default int giveUpShares() {
        return 0;
    }

    /** Has the current thread, which has it, share it so many times besides. */
    default void takeShares(int shares) {}
}
