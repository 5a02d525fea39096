package dev.interlock.topology;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A thread of each session enters a critical section again and again, and looks whether it is alone there. */
final class Hammer {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger sections = new AtomicInteger();
    private final AtomicInteger overlaps = new AtomicInteger();
    private final AtomicInteger staleTokens = new AtomicInteger();
    private final AtomicInteger losses = new AtomicInteger();
    private volatile long lastToken;
    private volatile boolean done;

    Hammer(String name, Interlock... sessions) {
        for (Interlock session : sessions) {
            DistributedReentrantLock lock = session.lock(name);
            Thread thread = new Thread(() -> hammer(lock), "hammer-" + threads.size());
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void hammer(DistributedReentrantLock lock) {
        while (!done) {
            try {
                lock.lock();
                try {
                    enter(lock);
                } finally {
                    lock.unlock();
                }
            } catch (LeaseLostException e) {
                // A turn that was handed over begins with a lease that is shorter than a failover.
                losses.incrementAndGet();
            } catch (RedisUnavailableException e) {
                // On a very slow machine. What counts is that it goes on afterwards.
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private void enter(DistributedReentrantLock lock) {
        if (inside.getAndIncrement() != 0) {
            overlaps.incrementAndGet();
        }
        try {
            long token = lock.fencingToken();
            if (token <= lastToken) {
                staleTokens.incrementAndGet();
            }
            lastToken = token;
            sections.incrementAndGet();
        } finally {
            inside.decrementAndGet();
        }
    }

    int sections() {
        return sections.get();
    }

    int overlaps() {
        return overlaps.get();
    }

    /** How many tokens were not greater than the one before. */
    int staleTokens() {
        return staleTokens.get();
    }

    int losses() {
        return losses.get();
    }

    /** Ends the threads, and fails if one of them hangs. */
    void stop(Duration patience) {
        done = true;
        for (Thread thread : threads) {
            try {
                thread.join(patience.toMillis());
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (thread.isAlive()) {
                AssertionError error = new AssertionError(thread.getName() + " hangs");
                error.setStackTrace(thread.getStackTrace());
                throw error;
            }
        }
    }
}
