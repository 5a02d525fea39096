package dev.interlock.testing.rig;

import dev.interlock.LeaseLostException;
import dev.interlock.testing.ChildConsole;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A child JVM whose threads do the same {@link Work} over and over, and record what they have seen.
 *
 * <p>It says {@code READY <greeting>}, {@code LOST …} for each loss, and {@code DONE} when all threads have as many
 * records as they should. Its commands are {@code go}; {@code progress}, answered by {@code PROGRESS <records of each
 * thread>}; {@code dump}, for people; and {@code stop}, answered by {@code STOPPED <farewell>} when all threads and the
 * session have ended.
 */
final class Hammer {

    private final Work work;
    private final Task task;
    private final List<Log> logs;
    private final List<Thread> threads;
    private final Thread nuisance = new Thread(this::interrupt, "nuisance");
    private final AtomicInteger running;
    private volatile boolean stopped;

    private Hammer(Work work, Task task) throws IOException {
        this.work = work;
        this.task = task;
        this.logs = work.format().open(task.file(), task.threads());
        this.threads = IntStream.range(0, task.threads())
                .mapToObj(i -> new Thread(() -> hammer(i), "hammer-" + i))
                .toList();
        this.running = new AtomicInteger(task.threads());
        work.assign(threads, logs);
    }

    public static void main(String[] args) throws InterruptedException, IOException, ReflectiveOperationException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        Task task = Task.parse(args);
        Work work = task.open();
        try (work) {
            var hammer = new Hammer(work, task);
            ChildConsole.say("READY " + work.greeting());
            hammer.obey();
        }
        ChildConsole.say("STOPPED " + work.farewell());
    }

    private void obey() throws InterruptedException {
        while (true) {
            switch (ChildConsole.readCommand()) {
                case "go" -> {
                    threads.forEach(Thread::start);
                    if (!work.interrupts().isZero()) {
                        nuisance.start();
                    }
                }
                case "progress" -> ChildConsole.say("PROGRESS " + sizes());
                case "stop" -> {
                    stop();
                    return;
                }
                case "dump" -> dump();
                default -> throw new IllegalArgumentException();
            }
        }
    }

    private String sizes() {
        return logs.stream().map(log -> "" + log.size()).collect(Collectors.joining(" "));
    }

    private void dump() {
        ChildConsole.say("WORK " + work + " " + sizes());
        for (Thread thread : threads) {
            ChildConsole.say("THREAD " + thread.getName() + " " + Arrays.toString(thread.getStackTrace()));
        }
        ChildConsole.say("DUMPED");
    }

    private void stop() throws InterruptedException {
        stopped = true;
        nuisance.join();
        work.end();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    private void hammer(int self) {
        Log log = logs.get(self);
        while (!stopped && log.size() < task.most() && !log.isFull()) {
            try {
                work.once(self, log);
            } catch (LeaseLostException e) {
                ChildConsole.say("LOST " + e.getMessage());
            } catch (InterruptedException e) {
                throw new IllegalStateException("Nobody interrupts this", e);
            }
        }
        if (running.decrementAndGet() == 0) {
            ChildConsole.say("DONE");
        }
    }

    private void interrupt() {
        while (!stopped && running.get() > 0) {
            var random = ThreadLocalRandom.current();
            LockSupport.parkNanos(
                    (long) (2 * random.nextDouble() * work.interrupts().toNanos()));
            threads.get(random.nextInt(threads.size())).interrupt();
        }
    }
}
