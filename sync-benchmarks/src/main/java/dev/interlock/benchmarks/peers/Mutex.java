package dev.interlock.benchmarks.peers;

import java.util.concurrent.locks.Lock;

/** The part of a lock that all peers have in common. */
public interface Mutex {

    /** Waits until no other thread, here or elsewhere, is between this and {@link #unlock}. */
    void lock();

    /** Lets the next one in; called by the thread that has locked. */
    void unlock();

    /** That part of a JDK lock. */
    static Mutex of(Lock lock) {
        return new Mutex() {
            @Override
            public void lock() {
                lock.lock();
            }

            @Override
            public void unlock() {
                lock.unlock();
            }
        };
    }
}
