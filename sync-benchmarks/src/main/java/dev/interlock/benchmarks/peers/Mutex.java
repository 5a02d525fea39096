package dev.interlock.benchmarks.peers;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

/** The part of a lock that all peers have in common. */
public interface Mutex {

    /** Waits until no other thread, here or elsewhere, is between this and {@link #unlock}. */
    void lock();

    /** Lets the next one in; called by the thread that has locked. */
    void unlock();

    /** This as a lock that can do no more than that. */
    default Lock toLock() {
        Mutex self = this;
        return new Lock() {
            @Override
            public void lock() {
                self.lock();
            }

            @Override
            public void unlock() {
                self.unlock();
            }

            @Override
            public boolean tryLock() {
                throw new UnsupportedOperationException("this peer only locks and unlocks");
            }

            @Override
            public boolean tryLock(long time, TimeUnit unit) {
                return tryLock();
            }

            @Override
            public void lockInterruptibly() {
                tryLock();
            }

            @Override
            public Condition newCondition() {
                throw new UnsupportedOperationException("this peer has no conditions");
            }
        };
    }

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

            @Override
            public Lock toLock() {
                return lock;
            }
        };
    }
}
