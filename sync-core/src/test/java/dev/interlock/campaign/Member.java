package dev.interlock.campaign;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.RedisUnavailableException;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * A child JVM whose threads use all synchronizers at once, and are interrupted now and then.
 *
 * <p>It says {@code READY} and begins. Its commands are {@code progress}, answered by {@code PROGRESS <steps of each
 * thread>}; {@code dump}, for people; and {@code stop}, answered by {@code STOPPED <losses>} when all threads and the
 * session have ended.
 */
final class Member {
    static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(1);
    private static final Duration MOST_OPENING = Duration.ofSeconds(30);
    private static final long NUISANCE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final List<StepLog> logs;
    private final List<Worker> workers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Random random;
    private volatile boolean stopped;

    private Member(Interlock interlock, Blackboard board, List<StepLog> logs, int parties, long seed) {
        this.logs = logs;
        this.random = new Random(seed);
        var site = new Worker.Site(interlock, board, parties);
        for (int i = 0; i < Worker.THREADS; i++) {
            var worker = new Worker(site, i, logs.get(i), seed + i);
            workers.add(worker);
            threads.add(new Thread(worker, "worker-" + i));
        }
    }

    /** Describes a child. */
    static ChildJvm.Builder of(String url, Path board, Path log, int parties, long seed) {
        return ChildJvm.of(Member.class)
                .options("-XX:TieredStopAtLevel=1")
                .arguments(url, board.toString(), log.toString(), "" + parties, "" + seed);
    }

    public static void main(String[] args) throws InterruptedException, IOException {
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            failure.printStackTrace();
            Runtime.getRuntime().halt(1);
        });
        var losses = new LongAdder();
        var listener = new SyncListener() {
            @Override
            public void lost(LeaseLostException loss) {
                losses.increment();
            }
        };
        try (Interlock interlock = open(args[0], listener)) {
            Blackboard board = Blackboard.open(Path.of(args[1]));
            List<StepLog> logs = StepLog.open(Path.of(args[2]), Worker.THREADS);
            new Member(interlock, board, logs, Integer.parseInt(args[3]), Long.parseLong(args[4])).obey();
        }
        ChildConsole.say("STOPPED " + losses);
    }

    /** Opens a session, which takes until Redis is well: this JVM may have been started in the midst of a fault. */
    private static Interlock open(String uri, SyncListener listener) {
        long startNanos = System.nanoTime();
        while (true) {
            try {
                return Interlock.builder()
                        .uri(uri)
                        .lease(LEASE)
                        .redisTimeout(REDIS_TIMEOUT)
                        .commandTimeout(COMMAND_TIMEOUT)
                        .listener(listener)
                        .open();
            } catch (RedisUnavailableException e) {
                if (System.nanoTime() - startNanos > MOST_OPENING.toNanos()) {
                    throw e;
                }
                LockSupport.parkNanos(NUISANCE_NANOS);
            }
        }
    }

    private void obey() throws InterruptedException {
        var nuisance = new Thread(this::interrupt, "nuisance");
        threads.forEach(Thread::start);
        nuisance.start();
        ChildConsole.say("READY");
        while (true) {
            switch (ChildConsole.readCommand()) {
                case "progress" ->
                    ChildConsole.say("PROGRESS "
                            + logs.stream().map(log -> "" + log.size()).collect(Collectors.joining(" ")));
                case "stop" -> {
                    stopped = true;
                    workers.forEach(Worker::stop);
                    nuisance.join();
                    workers.get(0).wakeTraders();
                    for (Thread thread : threads) {
                        thread.join();
                    }
                    return;
                }
                case "dump" -> {
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
        while (!stopped) {
            LockSupport.parkNanos((long) (random.nextDouble() * 2 * NUISANCE_NANOS));
            threads.get(random.nextInt(threads.size())).interrupt();
        }
    }
}
