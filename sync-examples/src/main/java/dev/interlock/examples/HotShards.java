package dev.interlock.examples;

import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A lock that mostly one JVM uses, but any may: each JVM works on its own shard, and now and then on another one's.
 * With {@linkplain LockOptions#retain retention} a JVM keeps the lock of its shard between two uses, until another JVM
 * asks for it.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=HotShards} has three JVMs do the same work with and without retention, and counts
 * the acquisitions for which Redis had to be asked.
 */
public final class HotShards {

    private static final int JVMS = 3;
    private static final int UPDATES = 3_000;
    private static final int STRAY_EVERY = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private HotShards() {}

    /**
     * A counter per shard, in a file that all JVMs have mapped. Nothing but the lock of a shard protects its counter.
     */
    private static final class Counters {

        private final ByteBuffer page;

        Counters(Path file) throws IOException {
            try (var channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                page = channel.map(MapMode.READ_WRITE, 0, (long) JVMS * Long.BYTES);
            }
        }

        void increment(int shard) {
            page.putLong(shard * Long.BYTES, page.getLong(shard * Long.BYTES) + 1);
        }

        long sum() {
            return IntStream.range(0, JVMS)
                    .mapToLong(shard -> page.getLong(shard * Long.BYTES))
                    .sum();
        }
    }

    /** One of the JVMs. */
    static final class Node {

        public static void main(String[] args) throws InterruptedException, IOException {
            int home = Integer.parseInt(args[0]);
            boolean retaining = Boolean.parseBoolean(args[1]);
            var counters = new Counters(Path.of(args[3]));
            var asked = new AtomicInteger();
            try (Interlock interlock = Interlock.builder()
                    .uri(args[2])
                    .listener(new SyncListener() {
                        @Override
                        public void acquired(String name, long waitedNanos, boolean local) {
                            if (!local) {
                                asked.incrementAndGet();
                            }
                        }
                    })
                    .open()) {
                ChildConsole.say("READY");
                ChildConsole.readCommand();
                var random = new Random(home);
                long beganNanos = System.nanoTime();
                for (int i = 0; i < UPDATES; i++) {
                    boolean strays = random.nextInt(STRAY_EVERY) == 0;
                    int shard = strays ? (home + 1 + random.nextInt(JVMS - 1)) % JVMS : home;
                    update(lock(interlock, "shard-" + shard, retaining), counters, shard);
                }
                ChildConsole.say("DONE " + asked + " " + (System.nanoTime() - beganNanos) / 1_000_000);
            }
        }

        private static ReentrantLock lock(Interlock interlock, String name, boolean retaining) {
            LockOptions kept = LockOptions.retain(Duration.ofSeconds(1));
            return interlock.lock(name, retaining ? kept : LockOptions.releaseAtOnce());
        }

        private static void update(ReentrantLock lock, Counters counters, int shard) {
            lock.lock();
            try {
                counters.increment(shard);
            } finally {
                lock.unlock();
            }
        }
    }

    /** What all JVMs have done together, and how long the slowest took. */
    private record Outcome(long sum, int asked, int millis) {

        boolean isExact() {
            return sum == JVMS * UPDATES;
        }

        void print(String title) {
            System.out.printf(
                    "%-18s %,d updates counted; for %,d of them Redis had to be asked; %,d ms%n",
                    title, sum, asked, millis);
        }
    }

    /** Runs both; the exit code is 0 if the sums are right and retention has saved nine round trips of ten. */
    public static void main(String[] args) throws IOException {
        Outcome without;
        Outcome with;
        try (RedisServer redis = RedisServer.launch()) {
            without = run(false, redis.url());
            without.print("without retention");
            with = run(true, redis.url());
            with.print("with retention");
        }
        boolean isSaving = with.asked * 10 <= without.asked;
        boolean isOk = without.isExact() && with.isExact() && isSaving;
        System.out.printf(
                "HOT SHARDS %s: of %,d round trips %,d are left%n", isOk ? "OK" : "FAILED", without.asked, with.asked);
        System.exit(isOk ? 0 : 1);
    }

    private static Outcome run(boolean retaining, String redisUrl) throws IOException {
        Path file = Files.createTempFile("shards", ".counters");
        try {
            Files.write(file, new byte[JVMS * Long.BYTES]);
            try (Fleet nodes = Fleet.start(
                    JVMS,
                    home -> ChildJvm.of(Node.class).arguments("" + home, "" + retaining, redisUrl, file.toString()))) {
                nodes.awaitAll("READY", PATIENCE);
                nodes.send("go");
                List<int[]> reports = nodes.awaitAll("DONE ", PATIENCE).stream()
                        .map(line -> Stream.of(line.split(" ", -1))
                                .skip(1)
                                .mapToInt(Integer::parseInt)
                                .toArray())
                        .toList();
                return new Outcome(
                        new Counters(file).sum(),
                        reports.stream().mapToInt(report -> report[0]).sum(),
                        reports.stream().mapToInt(report -> report[1]).max().orElseThrow());
            }
        } finally {
            Files.delete(file);
        }
    }
}
