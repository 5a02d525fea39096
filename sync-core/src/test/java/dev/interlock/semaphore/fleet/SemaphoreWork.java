package dev.interlock.semaphore.fleet;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import dev.interlock.testing.rig.SessionWork;
import dev.interlock.testing.rig.Task;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/** Threads acquire and release permits of a semaphore of some {@link Kind}, one to three at a time. */
final class SemaphoreWork extends SessionWork {

    /** The most permits that a thread wants. */
    static final int MOST = 3;

    /** Every so many stays one lasts for long enough to meet others, however few cores there are. */
    private static final int LONG_STAY = 16;

    private static final long LONG_STAY_NANOS = 500_000;

    private final DistributedSemaphore semaphore;

    SemaphoreWork(Task task) {
        super(RedisServer.connect(() -> Interlock.connect(task.url())));
        semaphore = Kind.valueOf(task.word(0)).of(interlock(), task.name(), task.number(1));
        semaphore.onLost(loss -> ChildConsole.say("LOST " + loss.getMessage()));
    }

    @Override
    public LogFormat<?> format() {
        return Stay.LOG;
    }

    @Override
    public void once(int thread, Log log) {
        int permits = ThreadLocalRandom.current().nextInt(1, MOST + 1);
        long begun = Monotonic.nanos();
        semaphore.acquireUninterruptibly(permits);
        long enter = Monotonic.nanos();
        if (log.size() % LONG_STAY == 0) {
            LockSupport.parkNanos(LONG_STAY_NANOS);
        }
        long exit = Monotonic.nanos();
        semaphore.release(permits);
        log.add(begun, enter, exit, permits);
    }

    @Override
    public String toString() {
        return semaphore.toString();
    }
}
