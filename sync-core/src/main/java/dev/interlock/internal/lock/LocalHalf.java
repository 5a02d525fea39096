package dev.interlock.internal.lock;

/** The local half of a lock: what its superclass knows about the threads of this JVM. */
public interface LocalHalf {
    /** Returns whether threads of this JVM are queued. */
    boolean isWanted();

    /** Returns whether a thread has the local half, be it in its critical section or waiting for the remote half. */
    boolean isHeld();

    /** Returns whether that thread is queued. */
    boolean isQueued(Thread thread);

    /** Takes the local half if no thread has it. */
    boolean tryLock();

    /** Gives the local half back. */
    void unlock();
}
