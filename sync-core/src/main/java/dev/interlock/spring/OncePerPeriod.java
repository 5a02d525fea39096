package dev.interlock.spring;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.ratelimit.RateLimit;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Begins a run unless another one goes on, or the last one began too lately. The lock says the former, as long as the
 * thread that has begun the run holds it. A limit of one permit in the period says the latter: it is in Redis, belongs
 * to no thread, session or lease, and begins with the run, so nobody has to wait for its end or to give it back.
 *
 * <p>The lock comes first: a call that finds a run must not use up the permit of the next one.
 */
final class OncePerPeriod {
    private OncePerPeriod() {}

    /**
     * Returns the lock if the run may begin, held by this thread; null otherwise.
     *
     * @param atLeast from the beginning of one run to that of the next; 0 for no such limit
     * @param atMost the lease of the lock, which isn't renewed then, or null for one that is renewed
     */
    static @Nullable DistributedReentrantLock tryBegin(
            Interlock interlock, String name, Duration atLeast, @Nullable Duration atMost) {
        // Confirmed: a JVM that dies when the run is over must not block the next one.
        DistributedReentrantLock lock = interlock.lock(name, LockOptions.confirmUnlock());
        if (lock.isHeldByCurrentThread() || !tryLock(lock, atMost)) {
            return null;
        }
        boolean admitted = false;
        try {
            admitted = atLeast.isZero()
                    || interlock
                            .rateLimiter(name, RateLimit.fixedWindow(1, atLeast))
                            .tryAcquire();
        } finally {
            if (!admitted) {
                lock.unlock();
            }
        }
        return admitted ? lock : null;
    }

    private static boolean tryLock(DistributedReentrantLock lock, @Nullable Duration atMost) {
        if (atMost == null) {
            return lock.tryLock();
        }
        try {
            return lock.tryLock(0, atMost.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
