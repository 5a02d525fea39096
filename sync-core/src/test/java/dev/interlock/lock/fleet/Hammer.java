package dev.interlock.lock.fleet;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.lock.fleet.section.Section;
import dev.interlock.lock.fleet.section.SectionLog;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import org.redisson.Redisson;
import org.redisson.config.Config;

/**
 * A child JVM whose threads run one critical section after the other and record each of them.
 *
 * <p>Its commands are {@code go}; {@code progress}, answered by {@code PROGRESS <sections of all threads> <of the
 * slowest>}; {@code dump}, for people; and {@code stop}, answered by {@code STOPPED} when all threads and the session
 * have ended.
 */
final class Hammer {

    /** Every so many sections one stays inside across a context switch. */
    private static final int LONG_SECTION = 16;

    private static final long LONG_SECTION_NANOS = 20_000;

    private final Lock lock;
    private final boolean fenced;
    private final List<SectionLog> logs;
    private final List<Thread> threads;
    private final long restNanos;
    private volatile boolean stopped;

    private Hammer(Lock lock, List<SectionLog> logs, Duration rest) {
        this.restNanos = rest.toNanos();
        this.lock = lock;
        this.fenced = lock instanceof DistributedReentrantLock;
        this.logs = logs;
        this.threads = logs.stream()
                .map(log -> new Thread(() -> hammer(log), "hammer"))
                .toList();
    }

    /**
     * Describes a child that uses the lock of this library.
     *
     * @param rest for how long a thread rests after each section
     */
    static ChildJvm.Builder ofInterlock(
            String url, String name, int threads, Path file, Duration lease, Duration rest) {
        return described("interlock", url, name, threads, file, lease, rest);
    }

    /** Describes a child that uses a plain RLock. */
    static ChildJvm.Builder ofRLock(String url, String name, int threads, Path file) {
        return described("rlock", url, name, threads, file);
    }

    private static ChildJvm.Builder described(Object... arguments) {
        return ChildJvm.of(Hammer.class)
                .arguments(Arrays.stream(arguments).map(Object::toString).toArray(String[]::new));
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        String url = args[1];
        String name = args[2];
        List<SectionLog> logs = SectionLog.open(Path.of(args[4]), Integer.parseInt(args[3]));
        if (args[0].equals("rlock")) {
            var config = new Config();
            config.useSingleServer().setAddress(url);
            var client = Redisson.create(config);
            new Hammer(client.getLock(name), logs, Duration.ZERO).obey();
            client.shutdown();
        } else {
            Duration lease = Duration.parse(args[5]);
            try (Interlock interlock = Interlock.builder().uri(url).lease(lease).open()) {
                new Hammer(interlock.lock(name), logs, Duration.parse(args[6])).obey();
            }
        }
        ChildConsole.say("STOPPED");
    }

    private void obey() throws InterruptedException {
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
                    return;
                }
                case "dump" -> {
                    ChildConsole.say("LOCK " + lock);
                    for (Thread thread : threads) {
                        ChildConsole.say("THREAD " + Arrays.toString(thread.getStackTrace()));
                    }
                    ChildConsole.say("DUMPED");
                }
                default -> throw new IllegalArgumentException();
            }
        }
    }

    private void hammer(SectionLog log) {
        while (!stopped && !log.isFull()) {
            try {
                lock.lock();
                try {
                    run(log);
                } finally {
                    lock.unlock();
                }
            } catch (LeaseLostException e) {
                ChildConsole.say("LOST " + e.fencingToken());
            }
            if (restNanos > 0) {
                LockSupport.parkNanos(restNanos);
            }
        }
    }

    /** Runs a section, and records it if it was still the owner's at its end. */
    private void run(SectionLog log) {
        long enter = Monotonic.nanos();
        long token = fenced ? ((DistributedReentrantLock) lock).fencingToken() : Section.NO_TOKEN;
        if (log.size() % LONG_SECTION == 0) {
            LockSupport.parkNanos(LONG_SECTION_NANOS);
        }
        long exit = Monotonic.nanos();
        if (fenced) {
            ((DistributedReentrantLock) lock).assertHeld();
        }
        log.add(enter, exit, token);
    }
}
