package dev.interlock.lock.fair;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.lock.fleet.section.SectionLog;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * A child JVM whose threads enter a fair lock so many times each, and record each of their sections.
 *
 * <p>It says {@code READY <session id>}, {@code PASSED …} for each thread that was passed by one that had come later,
 * {@code LOST …} for each section that was no longer the owner's, and {@code DONE} when all threads are through. Its
 * commands are {@code go}, {@code dump}, and {@code stop}, answered by {@code STOPPED} when the session is closed.
 */
final class FairHammer {

    private static final long LONGEST_WAIT_MICROS = 20_000;
    private static final long BETWEEN_INTERRUPTS_NANOS = 2_000_000;

    private final DistributedReentrantLock lock;
    private final List<SectionLog> logs;
    private final int sections;
    private final boolean restless;
    private final List<Thread> threads;
    private final Arrivals arrivals;
    private final AtomicInteger running;

    private FairHammer(DistributedReentrantLock lock, List<SectionLog> logs, int sections, boolean restless) {
        this.lock = lock;
        this.logs = logs;
        this.sections = sections;
        this.restless = restless;
        this.threads = IntStream.range(0, logs.size())
                .mapToObj(i -> new Thread(() -> hammer(i), "hammer-" + i))
                .toList();
        this.arrivals = new Arrivals(lock, threads);
        this.running = new AtomicInteger(logs.size());
    }

    /**
     * Describes a child.
     *
     * @param sections how many each thread has to go through
     * @param restless whether threads are interrupted, and give up, at any moment
     */
    static ChildJvm.Builder of(
            String url, String name, int threads, Path file, Duration lease, int sections, boolean restless) {
        return ChildJvm.of(FairHammer.class)
                .options("-XX:TieredStopAtLevel=1")
                .arguments(List.of(url, name, threads, file, lease, sections, restless).stream()
                        .map(Object::toString)
                        .toArray(String[]::new));
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        List<SectionLog> logs = SectionLog.open(Path.of(args[3]), Integer.parseInt(args[2]));
        Duration lease = Duration.parse(args[4]);
        try (Interlock interlock = Interlock.builder().uri(args[0]).lease(lease).open()) {
            var lock = interlock.fairLock(args[1]);
            var hammer = new FairHammer(lock, logs, Integer.parseInt(args[5]), Boolean.parseBoolean(args[6]));
            ChildConsole.say("READY " + interlock.id());
            hammer.obey();
        }
        ChildConsole.say("STOPPED");
    }

    private void obey() throws InterruptedException {
        while (true) {
            switch (ChildConsole.readCommand()) {
                case "go" -> {
                    threads.forEach(Thread::start);
                    if (restless) {
                        new Thread(this::interrupt, "interrupts").start();
                    }
                }
                case "stop" -> {
                    for (Thread thread : threads) {
                        thread.join();
                    }
                    return;
                }
                case "dump" -> {
                    ChildConsole.say("LOCK " + lock + " "
                            + Arrays.toString(
                                    logs.stream().mapToInt(SectionLog::size).toArray()));
                    for (Thread thread : threads) {
                        ChildConsole.say("THREAD " + thread.getName() + " " + Arrays.toString(thread.getStackTrace()));
                    }
                    ChildConsole.say("DUMPED");
                }
                default -> throw new IllegalArgumentException();
            }
        }
    }

    private void interrupt() {
        while (running.get() > 0) {
            LockSupport.parkNanos(BETWEEN_INTERRUPTS_NANOS);
            threads.get(ThreadLocalRandom.current().nextInt(threads.size())).interrupt();
        }
    }

    private void hammer(int self) {
        SectionLog log = logs.get(self);
        while (log.size() < sections) {
            int[] ahead = arrivals.come(self);
            if (!acquire()) {
                arrivals.giveUp(self);
                continue;
            }
            try {
                if (arrivals.enter(self, ahead)) {
                    ChildConsole.say("PASSED " + Thread.currentThread().getName());
                }
                run(log);
            } finally {
                unlock();
            }
        }
        if (running.decrementAndGet() == 0) {
            ChildConsole.say("DONE");
        }
    }

    private void unlock() {
        try {
            lock.unlock();
        } catch (LeaseLostException e) {
            ChildConsole.say("LOST " + e.getMessage());
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

    private void run(SectionLog log) {
        long enter = Monotonic.nanos();
        long token = lock.fencingToken();
        long exit = Monotonic.nanos();
        try {
            lock.assertHeld();
            log.add(enter, exit, token);
        } catch (LeaseLostException e) {
            ChildConsole.say("LOST " + e.getMessage());
        }
    }
}
