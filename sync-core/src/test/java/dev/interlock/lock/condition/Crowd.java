package dev.interlock.lock.condition;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Crew;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A child JVM whose threads all wait on one condition, once.
 *
 * <p>It says {@code READY}; after {@code go} it says {@code INSIDE} when the last thread has the lock and is about to
 * wait, {@code DONE} when all have returned, and {@code STOPPED} when the session is closed.
 */
final class Crowd {

    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private final ReentrantLock lock;
    private final Condition condition;
    private final int threads;
    private final AtomicInteger inside = new AtomicInteger();

    private Crowd(ReentrantLock lock, int threads) {
        this.lock = lock;
        this.condition = lock.newCondition();
        this.threads = threads;
    }

    static ChildJvm.Builder of(String url, String name, String kind, int threads) {
        return ChildJvm.of(Crowd.class)
                .options("-XX:TieredStopAtLevel=1")
                .arguments(url, name, kind, Integer.toString(threads));
    }

    static DistributedReentrantLock lock(Interlock interlock, String name, String kind) {
        return kind.equals("fair") ? interlock.fairLock(name) : interlock.lock(name);
    }

    public static void main(String[] args) throws InterruptedException {
        try (Interlock interlock = RedisServer.connect(() -> Interlock.connect(args[0]))) {
            var crowd = new Crowd(lock(interlock, args[1], args[2]), Integer.parseInt(args[3]));
            ChildConsole.say("READY");
            if (!ChildConsole.readCommand().equals("go")) {
                throw new IllegalArgumentException();
            }
            crowd.waitOnce();
            ChildConsole.say("DONE");
        }
        ChildConsole.say("STOPPED");
    }

    private void waitOnce() {
        var crew = new Crew();
        for (int i = 0; i < threads; i++) {
            crew.start(this::waitInside);
        }
        crew.join(PATIENCE);
    }

    @SuppressWarnings("WaitNotInLoop") // Nothing fails here, so nothing but the signal ends it.
    private void waitInside() {
        lock.lock();
        try {
            if (inside.incrementAndGet() == threads) {
                ChildConsole.say("INSIDE");
            }
            condition.await();
            if (lock.getHoldCount() != 1) {
                throw new IllegalStateException("returned without the lock");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts the crowd", e);
        } finally {
            lock.unlock();
        }
    }
}
