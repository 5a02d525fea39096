package dev.interlock.lock;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** The four ways to acquire a {@link Lock}. */
public enum Acquisition {
    LOCK {
        @Override
        public boolean on(Lock lock) {
            lock.lock();
            return true;
        }
    },
    LOCK_INTERRUPTIBLY {
        @Override
        public boolean on(Lock lock) throws InterruptedException {
            lock.lockInterruptibly();
            return true;
        }
    },
    TRY_LOCK {
        @Override
        public boolean on(Lock lock) {
            return lock.tryLock();
        }
    },
    /** With a timeout that no test lives to see. */
    TIMED_TRY_LOCK {
        @Override
        public boolean on(Lock lock) throws InterruptedException {
            return lock.tryLock(1, TimeUnit.HOURS);
        }
    };

    public abstract boolean on(Lock lock) throws InterruptedException;
}
