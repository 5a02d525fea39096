package dev.interlock.internal.lock;

/** The local half of a read-write lock: it is taken by one thread, or shared by several. */
public interface LocalReadWriteLock extends LocalLock {
    /** Shares it, waiting for as long as that takes. */
    void lockShared();

    /** Shares it unless interrupted. */
    void lockSharedInterruptibly() throws InterruptedException;

    /** Shares it unless a thread has it. */
    boolean tryLockShared();

    /** Shares it if that becomes possible within the wait. */
    boolean tryLockShared(long waitNanos) throws InterruptedException;

    /** Stops sharing it, once. */
    void unlockShared();

    /** Returns how many times the current thread shares it. */
    int sharedHolds();

    /** Returns whether threads share it. */
    boolean isShared();

    /** Returns whether a thread has it whole. */
    boolean isOwned();

    @Override
    default int giveUpShares() {
        int shares = sharedHolds();
        for (int i = 0; i < shares; i++) {
            unlockShared();
        }
        return shares;
    }

    @Override
    default void takeShares(int shares) {
        for (int i = 0; i < shares; i++) {
            lockShared();
        }
    }
}
