package dev.interlock.fleet;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.config.Config;

/**
 * A child JVM whose threads run one critical section after the other and record each of them.
 *
 * <p>Arguments: URL of Redis, name of the lock, {@code interlock} or {@code rlock}, threads, file for the records.
 * Commands: {@code go}; {@code progress}, answered by {@code PROGRESS <sections of all threads> <of the slowest>};
 * {@code stop}, answered by {@code WRITTEN} when everything is recorded and closed.
 */
final class Hammer {

    /** Every so many sections one stays inside across a context switch. */
    private static final int LONG_SECTION = 16;

    private static final long LONG_SECTION_NANOS = 20_000;

    private final Lock lock;
    private final LongSupplier fencingToken;
    private final List<SectionLog> logs;
    private final List<Thread> threads;
    private volatile boolean stopped;

    private Hammer(Lock lock, LongSupplier fencingToken, int threadCount) {
        this.lock = lock;
        this.fencingToken = fencingToken;
        this.logs = IntStream.range(0, threadCount).mapToObj(SectionLog::new).toList();
        this.threads = logs.stream()
                .map(log -> new Thread(() -> hammer(log), "hammer"))
                .toList();
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        String url = args[0];
        String name = args[1];
        int threadCount = Integer.parseInt(args[3]);
        Path file = Path.of(args[4]);
        if (args[2].equals("rlock")) {
            var config = new Config();
            config.useSingleServer().setAddress(url);
            var client = Redisson.create(config);
            new Hammer(client.getLock(name), () -> Section.NO_TOKEN, threadCount).obey(file);
            client.shutdown();
        } else {
            try (Interlock interlock = Interlock.connect(url)) {
                DistributedReentrantLock lock = interlock.lock(name);
                new Hammer(lock, lock::fencingToken, threadCount).obey(file);
            }
        }
        ChildConsole.say("WRITTEN");
    }

    private void obey(Path file) throws InterruptedException, IOException {
        ChildConsole.say("READY");
        while (true) {
            switch (ChildConsole.readCommand()) {
                case "go" -> threads.forEach(Thread::start);
                case "progress" -> {
                    long all = logs.stream().mapToLong(SectionLog::size).sum();
                    long slowest =
                            logs.stream().mapToLong(SectionLog::size).min().orElseThrow();
                    ChildConsole.say("PROGRESS " + all + " " + slowest);
                }
                case "stop" -> {
                    stopped = true;
                    for (Thread thread : threads) {
                        thread.join();
                    }
                    SectionLog.write(logs, file);
                    return;
                }
                default -> throw new IllegalArgumentException();
            }
        }
    }

    private void hammer(SectionLog log) {
        while (!stopped && !log.isFull()) {
            boolean isLong = log.size() % LONG_SECTION == 0;
            lock.lock();
            try {
                long enter = Monotonic.nanos();
                long token = fencingToken.getAsLong();
                if (isLong) {
                    LockSupport.parkNanos(LONG_SECTION_NANOS);
                }
                log.add(enter, Monotonic.nanos(), token);
            } finally {
                lock.unlock();
            }
        }
    }
}
