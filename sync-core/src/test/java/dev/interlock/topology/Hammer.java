package dev.interlock.topology;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.lock.fleet.section.Section;
import dev.interlock.testing.Crew;
import dev.interlock.testing.Monotonic;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/** A thread of each session of this JVM runs one critical section after the other. */
final class Hammer {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Crew crew = new Crew();
    private final Queue<Section> sections = new ConcurrentLinkedQueue<>();
    private final AtomicInteger losses = new AtomicInteger();
    private volatile boolean done;

    Hammer(String name, Interlock... sessions) {
        for (int i = 0; i < sessions.length; i++) {
            DistributedReentrantLock lock = sessions[i].lock(name);
            int self = i;
            crew.start(() -> hammer(self, lock));
        }
    }

    private void hammer(int self, DistributedReentrantLock lock) {
        while (!done) {
            try {
                lock.lock();
                try {
                    enter(self, lock);
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

    private void enter(int self, DistributedReentrantLock lock) {
        long enter = Monotonic.nanos();
        long token = Section.NO_TOKEN;
        try {
            token = lock.fencingToken();
        } finally {
            sections.add(new Section(self, 0, enter, Monotonic.nanos(), token));
        }
    }

    List<Section> sections() {
        return List.copyOf(sections);
    }

    int losses() {
        return losses.get();
    }

    /** Ends the threads, and fails if one of them hangs or has failed. */
    void stop(Duration patience) {
        done = true;
        crew.join(patience);
    }
}
