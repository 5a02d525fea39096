package dev.interlock.lock.fair;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.lock.fleet.section.Section;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Log;
import dev.interlock.testing.rig.LogFormat;
import dev.interlock.testing.rig.SessionWork;
import dev.interlock.testing.rig.Task;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Sections under a fair lock. It says {@code PASSED …} for each thread that was passed by one that had come later, and
 * greets with the session's id.
 */
@SuppressWarnings("NullAway.Init") // assigned before any thread is started
final class FairWork extends SessionWork {

    private static final long LONGEST_WAIT_MICROS = 20_000;
    private static final Duration BETWEEN_INTERRUPTS = Duration.ofMillis(2);

    private final DistributedReentrantLock lock;
    private final boolean restless;
    private Arrivals arrivals;

    FairWork(Task task) {
        super(RedisServer.connect(() ->
                Interlock.builder().uri(task.url()).lease(task.duration(0)).open()));
        lock = interlock().fairLock(task.name());
        restless = Boolean.parseBoolean(task.word(1));
    }

    /**
     * Describes it.
     *
     * @param restless whether threads are interrupted, and give up, at any moment
     */
    static Task task(String url, String name, int threads, Path file, Duration lease, boolean restless) {
        return Task.of(FairWork.class, url, name, threads, file, lease, restless);
    }

    @Override
    public LogFormat<?> format() {
        return Section.LOG;
    }

    @Override
    public String greeting() {
        return interlock().id();
    }

    @Override
    public void assign(List<Thread> threads, List<Log> logs) {
        arrivals = new Arrivals(lock, threads);
    }

    @Override
    public Duration interrupts() {
        return restless ? BETWEEN_INTERRUPTS : Duration.ZERO;
    }

    @Override
    public void once(int self, Log log) {
        int[] ahead = arrivals.come(self);
        if (!acquire()) {
            arrivals.giveUp(self);
            return;
        }
        try {
            if (arrivals.enter(self, ahead)) {
                ChildConsole.say("PASSED " + Thread.currentThread().getName());
            }
            long enter = Monotonic.nanos();
            long token = lock.fencingToken();
            long exit = Monotonic.nanos();
            lock.assertHeld();
            log.add(enter, exit, token);
        } finally {
            lock.unlock();
        }
    }

    private boolean acquire() {
        var random = ThreadLocalRandom.current();
        int way = restless ? random.nextInt(4) : 0;
        try {
            switch (way) {
                case 1 -> lock.lockInterruptibly();
                case 2 -> {
                    return tryLockBriefly(random.nextLong(1, LONGEST_WAIT_MICROS));
                }
                case 3 -> {
                    return lock.tryLock(1, TimeUnit.HOURS);
                }
                default -> {
                    lock.lock();
                    Thread.interrupted();
                }
            }
            return true;
        } catch (InterruptedException e) {
            return false;
        }
    }

    // On a machine as busy as this one, Redis needn't answer in so short a time, and then the thread is told so.
    private boolean tryLockBriefly(long micros) throws InterruptedException {
        try {
            return lock.tryLock(micros, TimeUnit.MICROSECONDS);
        } catch (RedisUnavailableException e) {
            return false;
        }
    }

    @Override
    public String toString() {
        return lock.toString();
    }
}
