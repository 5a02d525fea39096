package dev.interlock.readwrite.fleet;

import dev.interlock.DistributedReadWriteLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * A child JVM whose threads read and write under a read-write lock, and record each of their passages.
 *
 * <p>It says {@code READY}, {@code LOST …} for each passage that was lost, and {@code DONE} when all threads have had
 * as many as they should. Its commands are {@code go}, {@code dump}, and {@code stop}, answered by {@code STOPPED} when
 * all threads and the session have ended.
 */
final class ReadWriteHammer {

    /** Every so many passages one stays inside across a context switch. */
    private static final int LONG_PASSAGE = 16;

    private static final long LONG_PASSAGE_NANOS = 20_000;

    private final DistributedReadWriteLock lock;
    private final Task task;
    private final SharedPair pair;
    private final List<PassageLog> logs;
    private final List<Thread> threads;
    private final AtomicInteger running;
    private volatile boolean stopped;

    /**
     * What the threads of a child have to do.
     *
     * @param roles a letter for each: {@code r} only reads, {@code w} only writes, {@code m} writes once in ten times
     * @param passages how many of each, at most
     * @param stay for how long a reader stays inside
     * @param rest for how long a writer rests
     */
    record Task(String kind, String roles, int passages, Duration stay, Duration rest, Path file, Path pair) {

        private static Task parse(String line) {
            String[] words = line.split(" ", 7);
            return new Task(
                    words[0],
                    words[1],
                    Integer.parseInt(words[2]),
                    Duration.parse(words[3]),
                    Duration.parse(words[4]),
                    Path.of(words[5]),
                    Path.of(words[6]));
        }

        private String line() {
            return String.join(
                    " ",
                    kind,
                    roles,
                    Integer.toString(passages),
                    stay.toString(),
                    rest.toString(),
                    file.toString(),
                    pair.toString());
        }

        private boolean writes(int thread, int passage) {
            return switch (roles.charAt(thread)) {
                case 'r' -> false;
                case 'w' -> true;
                default -> ThreadLocalRandom.current().nextInt(10) == 0 || passage == 0;
            };
        }
    }

    private ReadWriteHammer(DistributedReadWriteLock lock, Task task) throws IOException {
        this.lock = lock;
        this.task = task;
        this.pair = SharedPair.open(task.pair);
        this.logs = PassageLog.open(task.file, task.roles.length());
        this.threads = IntStream.range(0, task.roles.length())
                .mapToObj(i -> new Thread(() -> hammer(i), "hammer-" + i))
                .toList();
        this.running = new AtomicInteger(threads.size());
    }

    static ChildJvm.Builder of(String url, String name, Task task) {
        return ChildJvm.of(ReadWriteHammer.class)
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
            DistributedReadWriteLock lock =
                    task.kind.equals("fair") ? interlock.fairReadWriteLock(args[1]) : interlock.readWriteLock(args[1]);
            new ReadWriteHammer(lock, task).obey();
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
                    int[] sizes = logs.stream().mapToInt(PassageLog::size).toArray();
                    ChildConsole.say("LOCK " + lock + " " + Arrays.toString(sizes));
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
        PassageLog log = logs.get(self);
        for (int i = 0; i < task.passages && !stopped && !log.isFull(); i++) {
            boolean writes = task.writes(self, i);
            Lock side = writes ? lock.writeLock() : lock.readLock();
            long begun = Monotonic.nanos();
            try {
                side.lock();
                try {
                    long enter = Monotonic.nanos();
                    if (writes) {
                        write(log, begun, enter);
                    } else {
                        read(log, begun, enter);
                    }
                } finally {
                    side.unlock();
                }
            } catch (LeaseLostException e) {
                ChildConsole.say("LOST " + e.getMessage());
            }
            if (writes && task.rest.toNanos() > 0) {
                LockSupport.parkNanos(task.rest.toNanos());
            }
        }
        if (running.decrementAndGet() == 0) {
            ChildConsole.say("DONE");
        }
    }

    private void write(PassageLog log, long begun, long enter) {
        long token = lock.writeLock().fencingToken();
        long first = pair.first();
        long second = pair.second();
        pair.setFirst(token);
        if (log.size() % LONG_PASSAGE == 0) {
            LockSupport.parkNanos(LONG_PASSAGE_NANOS);
        }
        pair.setSecond(token);
        long exit = Monotonic.nanos();
        lock.writeLock().assertHeld();
        log.add(begun, enter, exit, token, first, second);
    }

    private void read(PassageLog log, long begun, long enter) {
        long first = pair.first();
        if (task.stay.toNanos() > 0) {
            LockSupport.parkNanos(task.stay.toNanos());
        } else if (log.size() % LONG_PASSAGE == 0) {
            LockSupport.parkNanos(LONG_PASSAGE_NANOS);
        }
        long second = pair.second();
        long exit = Monotonic.nanos();
        lock.readLock().assertHeld();
        log.add(begun, enter, exit, Passage.READER, first, second);
    }
}
