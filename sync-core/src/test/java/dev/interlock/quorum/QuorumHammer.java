package dev.interlock.quorum;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.QuorumInterlock;
import dev.interlock.lock.fleet.section.SectionLog;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Monotonic;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.redisson.api.RedissonClient;

/**
 * A child JVM whose threads run one critical section after the other and record each of them. Its commands are
 * {@code go}; {@code progress}, answered by {@code PROGRESS <sections of all threads>}; and {@code stop}, answered by
 * {@code STOPPED}.
 */
final class QuorumHammer {
    private static final long SECTION_NANOS = 20_000;

    private static volatile boolean stopped;

    private QuorumHammer() {}

    /** Describes a child. */
    static ChildJvm.Builder of(List<String> urls, String name, int threads, Path file) {
        return ChildJvm.of(QuorumHammer.class)
                .arguments(String.join(",", urls), name, Integer.toString(threads), file.toString());
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        List<RedissonClient> clients = Nodes.clients(List.of(args[0].split(",", -1)));
        List<SectionLog> logs = SectionLog.open(Path.of(args[3]), Integer.parseInt(args[2]));
        try (QuorumInterlock quorum =
                Interlock.builder().lease(Duration.ofSeconds(10)).openQuorum(clients)) {
            DistributedReentrantLock lock = quorum.lock(args[1]);
            List<Thread> threads = logs.stream()
                    .map(log -> new Thread(() -> hammer(lock, log), "hammer"))
                    .toList();
            obey(threads, logs);
        }
        clients.forEach(client -> client.shutdown(0, 1, TimeUnit.SECONDS));
        ChildConsole.say("STOPPED");
    }

    private static void obey(List<Thread> threads, List<SectionLog> logs) throws InterruptedException {
        ChildConsole.say("READY");
        while (true) {
            switch (ChildConsole.readCommand()) {
                case "go" -> threads.forEach(Thread::start);
                case "progress" ->
                    ChildConsole.say("PROGRESS "
                            + logs.stream().mapToLong(SectionLog::size).min().orElseThrow());
                case "stop" -> {
                    stopped = true;
                    for (Thread thread : threads) {
                        thread.join();
                    }
                    return;
                }
                default -> throw new IllegalArgumentException();
            }
        }
    }

    private static void hammer(DistributedReentrantLock lock, SectionLog log) {
        while (!stopped && !log.isFull()) {
            try {
                lock.lock();
                try {
                    long enter = Monotonic.nanos();
                    long token = lock.fencingToken();
                    LockSupport.parkNanos(SECTION_NANOS);
                    long exit = Monotonic.nanos();
                    // Recorded if it was still the owner's at its end.
                    lock.assertHeld();
                    log.add(enter, exit, token);
                } finally {
                    lock.unlock();
                }
            } catch (LeaseLostException e) {
                ChildConsole.say("LOST " + e.fencingToken() + " " + e.getMessage());
            }
        }
    }
}
