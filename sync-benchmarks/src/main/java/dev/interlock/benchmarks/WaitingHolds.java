package dev.interlock.benchmarks;

import static com.google.common.base.Preconditions.checkState;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * Measures a crowd that waits for one name in one JVM, by holds and by threads that lock: how much memory each waits
 * with, how many threads there are in all, and how fast the name goes from one to the next when each releases it right
 * away. It prints a {@code WAITING} line for each way:
 *
 * <pre>{@code
 * java -cp benchmarks.jar dev.interlock.benchmarks.WaitingHolds [waiters threads rounds]
 * }</pre>
 *
 * <p>There are 100,000 waiters, 2,000 if they are platform threads, and 11 rounds unless other numbers are given. Each
 * way has a JVM of its own, and they take turns. Heap is what is used more after collections; native memory is what the
 * process has more besides, on Linux. Virtual threads need a JDK that has them.
 */
public final class WaitingHolds {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private enum Way {
        HOLDS {
            @Override
            Runnable gather(Crowd crowd, int count) {
                Holds holds = crowd.session.holds();
                Hold first = holds.acquire(NAME).join();
                for (int i = 0; i < count; i++) {
                    var unused = holds.acquire(NAME).thenAccept(hold -> {
                        crowd.entered++;
                        hold.close();
                        crowd.left.countDown();
                    });
                }
                return first::close;
            }
        },
        LOCK_BY_THREADS {
            @Override
            Runnable gather(Crowd crowd, int count) {
                return gatherThreads(crowd, count, task -> new Thread(task).start());
            }
        },
        LOCK_BY_VIRTUAL_THREADS {
            @Override
            Runnable gather(Crowd crowd, int count) {
                try {
                    return gatherThreads(crowd, count, (Executor) Executors.class
                            .getMethod("newVirtualThreadPerTaskExecutor")
                            .invoke(null));
                } catch (ReflectiveOperationException e) {
                    throw new LinkageError("virtual threads need JDK 21", e);
                }
            }
        };

        private static final String NAME = "waiting";

        /** Starts the given number of waiters. The result lets the first of them in. */
        abstract Runnable gather(Crowd crowd, int count);

        static Runnable gatherThreads(Crowd crowd, int count, Executor executor) {
            DistributedReentrantLock lock = crowd.session.lock(NAME);
            lock.lock();
            for (int i = 0; i < count; i++) {
                executor.execute(() -> {
                    lock.lock();
                    crowd.entered++;
                    lock.unlock();
                    crowd.left.countDown();
                });
            }
            while (lock.getQueueLength() < count) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
            return lock::unlock;
        }
    }

    /** The figures of one round. */
    private record Round(double heap, double nativeMemory, double threads, double perSecond) {}

    private final Map<Way, ChildJvm> children = new EnumMap<>(Way.class);
    private final Map<Way, List<Round>> rounds = new EnumMap<>(Way.class);

    private WaitingHolds() {}

    /** Measures and prints. */
    public static void main(String[] args) {
        int waiters = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2_000;
        int rounds = args.length > 2 ? Integer.parseInt(args[2]) : 11;
        WaitingHolds waiting = new WaitingHolds();
        try (RedisServer server = RedisServer.launch()) {
            for (Way way : Way.values()) {
                if (way == Way.LOCK_BY_VIRTUAL_THREADS && Runtime.version().feature() < 21) {
                    System.out.println("WAITING " + way + " is left out: it needs JDK 21");
                } else {
                    waiting.start(way, server.url(), way == Way.LOCK_BY_THREADS ? threads : waiters);
                }
            }
            // The first two are to warm up.
            for (int round = -2; round < rounds; round++) {
                waiting.play(round >= 0);
            }
            waiting.rounds.forEach(WaitingHolds::print);
        } finally {
            waiting.children.values().forEach(ChildJvm::close);
        }
    }

    private void start(Way way, String url, int count) {
        // All of the heap is there from the beginning, so that what else the process gets is no heap.
        ChildJvm child = ChildJvm.of(Crowd.class)
                .options("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch", "-Xss256k")
                .arguments(url, way.name(), String.valueOf(count))
                .start();
        children.put(way, child);
        child.await("ready", PATIENCE);
    }

    private void play(boolean counts) {
        children.forEach((way, child) -> {
            child.send("play");
            String[] words = child.await("played ", PATIENCE).split(" ", -1);
            double[] numbers =
                    Stream.of(words).skip(1).mapToDouble(Double::parseDouble).toArray();
            if (counts) {
                rounds.computeIfAbsent(way, first -> new ArrayList<>())
                        .add(new Round(numbers[0], numbers[1], numbers[2], numbers[3]));
            }
        });
    }

    private static void print(Way way, List<Round> rounds) {
        System.out.printf(
                Locale.ROOT,
                "WAITING %s heap=%s native=%s threads=%s handOffs=%s%n",
                way,
                Spread.of(rounds.stream().map(Round::heap).toList()).text(" B each"),
                Spread.of(rounds.stream().map(Round::nativeMemory).toList()).text(" B each"),
                Spread.of(rounds.stream().map(Round::threads).toList()).text(""),
                Spread.of(rounds.stream().map(Round::perSecond).toList()).text("/s"));
    }

    /** The JVM in which they wait. */
    static final class Crowd {
        private static final int COLLECTIONS = 5;

        private final Interlock session;
        private CountDownLatch left = new CountDownLatch(0);

        /** Nothing guards it but what is waited for. */
        private int entered;

        private Crowd(Interlock session) {
            this.session = session;
        }

        public static void main(String[] args) throws InterruptedException {
            Crowd crowd = new Crowd(RedisServer.connect(() -> Interlock.connect(args[0])));
            Way way = Way.valueOf(args[1]);
            int count = Integer.parseInt(args[2]);
            ChildConsole.say("ready");
            while (true) {
                ChildConsole.readCommand();
                ChildConsole.say("played " + crowd.play(way, count));
            }
        }

        /** Returns bytes of heap and of other memory for each that waits, threads, and hand-offs per second. */
        private String play(Way way, int count) throws InterruptedException {
            entered = 0;
            left = new CountDownLatch(count);
            double heap = usedHeap();
            double resident = resident();
            Runnable letIn = way.gather(this, count);
            double heapMore = usedHeap() - heap;
            double residentMore = resident() - resident;
            int threads = ManagementFactory.getThreadMXBean().getThreadCount();
            long begun = System.nanoTime();
            letIn.run();
            left.await();
            double seconds = (System.nanoTime() - begun) / 1e9;
            checkState(entered == count, "two were inside at a time: %s of %s were counted", entered, count);
            return heapMore / count + " " + residentMore / count + " " + threads + " " + count / seconds;
        }

        /** Of several collections, since what threads have just done may be in reach of their stacks. */
        private static double usedHeap() {
            double least = Double.MAX_VALUE;
            for (int i = 0; i < COLLECTIONS; i++) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                System.gc();
                least = Math.min(
                        least,
                        (double) Runtime.getRuntime().totalMemory()
                                - Runtime.getRuntime().freeMemory());
            }
            return least;
        }

        /** Returns the memory of the process in bytes, or 0 if that isn't known. */
        private static double resident() {
            Path status = Path.of("/proc/self/status");
            if (!Files.exists(status)) {
                return 0;
            }
            try (Stream<String> lines = Files.lines(status)) {
                return 1_024
                        * lines.filter(line -> line.startsWith("VmRSS:"))
                                .mapToDouble(line -> Double.parseDouble(line.replaceAll("[^0-9]", "")))
                                .sum();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
