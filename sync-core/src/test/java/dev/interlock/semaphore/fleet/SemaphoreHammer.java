package dev.interlock.semaphore.fleet;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * A child JVM whose threads acquire and release permits of a semaphore, one to three at a time, and record each of
 * their stays.
 *
 * <p>It says {@code READY}, and {@code DONE} when all threads have had as many stays as they should. Its commands are
 * {@code go}, {@code dump}, and {@code stop}, answered by {@code STOPPED} when all threads and the session have ended.
 */
final class SemaphoreHammer {

    /** The most permits that a thread wants. */
    static final int MOST = 3;

    /** Every so many stays one lasts across a context switch. */
    private static final int LONG_STAY = 16;

    private static final long LONG_STAY_NANOS = 20_000;

    private final DistributedSemaphore semaphore;
    private final Task task;
    private final List<StayLog> logs;
    private final List<Thread> threads;
    private final AtomicInteger running;
    private volatile boolean stopped;

    /**
     * What the threads of a child have to do.
     *
     * @param permits how many the semaphore has
     * @param stays how many of each thread
     */
    record Task(Kind kind, int permits, int threads, int stays, Path file) {

        private static Task parse(String line) {
            String[] words = line.split(" ", 5);
            return new Task(
                    Kind.valueOf(words[0]),
                    Integer.parseInt(words[1]),
                    Integer.parseInt(words[2]),
                    Integer.parseInt(words[3]),
                    Path.of(words[4]));
        }

        private String line() {
            return kind + " " + permits + " " + threads + " " + stays + " " + file;
        }
    }

    private SemaphoreHammer(DistributedSemaphore semaphore, Task task) throws IOException {
        this.semaphore = semaphore;
        this.task = task;
        this.logs = StayLog.open(task.file, task.threads);
        this.threads = IntStream.range(0, task.threads)
                .mapToObj(i -> new Thread(() -> hammer(i), "hammer-" + i))
                .toList();
        this.running = new AtomicInteger(task.threads);
    }

    static ChildJvm.Builder of(String url, String name, Task task) {
        return ChildJvm.of(SemaphoreHammer.class)
                .options("-XX:TieredStopAtLevel=1")
                .arguments(url, name, task.line());
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Task task = Task.parse(args[2]);
        try (Interlock interlock = Interlock.builder().uri(args[0]).open()) {
            DistributedSemaphore semaphore = task.kind.of(interlock, args[1], task.permits);
            semaphore.onLost(loss -> ChildConsole.say("LOST " + loss.getMessage()));
            new SemaphoreHammer(semaphore, task).obey();
        }
        ChildConsole.say("STOPPED");
    }

    private void obey() throws InterruptedException {
        ChildConsole.say("READY");
        while (true) {
            switch (ChildConsole.readCommand()) {
                case "go" -> threads.forEach(Thread::start);
                case "stop" -> {
                    stopped = true;
                    for (Thread thread : threads) {
                        thread.join();
                    }
                    return;
                }
                case "dump" -> {
                    int[] sizes = logs.stream().mapToInt(StayLog::size).toArray();
                    ChildConsole.say("SEMAPHORE " + semaphore + " " + Arrays.toString(sizes));
                    for (Thread thread : threads) {
                        ChildConsole.say("THREAD " + thread.getName() + " " + Arrays.toString(thread.getStackTrace()));
                    }
                    ChildConsole.say("DUMPED");
                }
                default -> throw new IllegalArgumentException();
            }
        }
    }

    private void hammer(int self) {
        StayLog log = logs.get(self);
        for (int i = 0; i < task.stays && !stopped && !log.isFull(); i++) {
            int permits = ThreadLocalRandom.current().nextInt(1, MOST + 1);
            long begun = Monotonic.nanos();
            semaphore.acquireUninterruptibly(permits);
            long enter = Monotonic.nanos();
            if (i % LONG_STAY == 0) {
                LockSupport.parkNanos(LONG_STAY_NANOS);
            }
            long exit = Monotonic.nanos();
            semaphore.release(permits);
            log.add(begun, enter, exit, permits);
        }
        if (running.decrementAndGet() == 0) {
            ChildConsole.say("DONE");
        }
    }
}
