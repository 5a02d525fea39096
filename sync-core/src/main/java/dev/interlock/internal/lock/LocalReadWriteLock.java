package dev.interlock.internal.lock;

import java.util.concurrent.locks.Lock;

/** The local half of a read-write lock: it is taken by one thread, or shared by several. */
public interface LocalReadWriteLock extends LocalLock {
    /** Returns what shares it, waiting unless or until no thread has it. */
    Lock readLock();

    /** Returns how many times the current thread shares it. */
    int sharedHolds();

    /** Returns how many times threads share it, each as often as it does. */
    int shares();

    /** Returns whether threads share it. */
    default boolean isShared() {
        return shares() > 0;
    }

    /** Returns whether a thread has it whole. */
    boolean isOwned();

    @Override
    default boolean isMine() {
        return holds() > 0 || sharedHolds() > 0;
    }

    @Override
    default boolean isHeld() {
        return isOwned() || isShared();
    }

    @Override
    default int giveUpShares() {
        int shares = sharedHolds();
        for (int i = 0; i < shares; i++) {
            readLock().unlock();
        }
        return shares;
    }

    @Override
    default void takeShares(int shares) {
        for (int i = 0; i < shares; i++) {
            readLock().lock();
        }
    }
}
