package dev.interlock.semaphore;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The four ways to acquire permits of a {@link Semaphore}; for a single one by the method without a count. */
enum Way {
    ACQUIRE {
        @Override
        boolean on(Semaphore semaphore, int permits) throws InterruptedException {
            if (permits == 1) {
                semaphore.acquire();
            } else {
                semaphore.acquire(permits);
            }
            return true;
        }
    },
    UNINTERRUPTIBLY {
        @Override
        boolean on(Semaphore semaphore, int permits) {
            if (permits == 1) {
                semaphore.acquireUninterruptibly();
            } else {
                semaphore.acquireUninterruptibly(permits);
            }
            return true;
        }
    },
    TRY {
        @Override
        boolean on(Semaphore semaphore, int permits) {
            return permits == 1 ? semaphore.tryAcquire() : semaphore.tryAcquire(permits);
        }
    },
    /** With a timeout that no test lives to see. */
    TIMED {
        @Override
        boolean on(Semaphore semaphore, int permits) throws InterruptedException {
            return permits == 1
                    ? semaphore.tryAcquire(1, TimeUnit.HOURS)
                    : semaphore.tryAcquire(permits, 1, TimeUnit.HOURS);
        }
    };

    abstract boolean on(Semaphore semaphore, int permits) throws InterruptedException;
}
