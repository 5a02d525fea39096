package dev.interlock.examples.latch;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.redisson.Redisson;
import org.redisson.api.RMap;
import org.redisson.api.RQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A batch that fans out and in: one latch lets all workers begin at the same time, another one is counted down with
 * every part that is done, and whoever wants the result waits for that.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=latch.Batch} adds up numbers in three JVMs, of which one gets stuck and is killed.
 * What it has done stays counted; what it was stuck in another one does. A JVM that starts when all is over passes at
 * once.
 */
public final class Batch {

    private static final int WORKERS = 3;
    private static final int PARTS = 60;
    private static final int NUMBERS_PER_PART = 10_000;
    private static final int PARTS_BEFORE_STUCK = 5;
    private static final Duration WORK = Duration.ofMillis(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Batch() {}

    /** What the JVMs share: two latches, the parts that nobody has begun, and the results. */
    private static final class Shared {

        private final CountDownLatch start;
        private final CountDownLatch done;
        private final RQueue<String> parts;
        private final RMap<String, String> results;

        Shared(Interlock interlock, RedissonClient redis) {
            start = interlock.countDownLatch("batch:start", 1);
            done = interlock.countDownLatch("batch:done", PARTS);
            parts = redis.getQueue("batch:parts", StringCodec.INSTANCE);
            results = redis.getMap("batch:results", StringCodec.INSTANCE);
        }

        long total() {
            Collection<String> sums = results.readAllValues();
            return sums.stream().mapToLong(Long::parseLong).sum();
        }
    }

    /** One of the JVMs that do the work, of which the one called {@code victim} gets stuck. */
    static final class Worker {

        public static void main(String[] args) throws InterruptedException {
            RedissonClient redis = connect(args[0]);
            boolean isVictim = args[1].equals("victim");
            try (Interlock interlock = Interlock.using(redis)) {
                var shared = new Shared(interlock, redis);
                ChildConsole.say("READY");
                shared.start.await();
                int counted = 0;
                // Not until the queue is empty: a part may come back.
                while (!shared.done.await(0, TimeUnit.MILLISECONDS)) {
                    String part = shared.parts.poll();
                    if (part == null) {
                        LockSupport.parkNanos(WORK.toNanos());
                    } else if (isVictim && counted == PARTS_BEFORE_STUCK) {
                        ChildConsole.say("STUCK " + part);
                        new CountDownLatch(1).await();
                    } else {
                        LockSupport.parkNanos(WORK.toNanos());
                        shared.results.fastPut(part, Long.toString(sumOf(Integer.parseInt(part))));
                        shared.done.countDown();
                        counted++;
                    }
                }
                ChildConsole.say("COUNTED " + counted);
            }
            redis.shutdown();
        }
    }

    /** A JVM that comes when all is over. */
    static final class Latecomer {

        public static void main(String[] args) throws InterruptedException {
            RedissonClient redis = connect(args[0]);
            try (Interlock interlock = Interlock.using(redis)) {
                var shared = new Shared(interlock, redis);
                shared.start.await();
                shared.done.await();
                ChildConsole.say("TOTAL " + shared.total());
            }
            redis.shutdown();
        }
    }

    private static long sumOf(int part) {
        return LongStream.range(0, NUMBERS_PER_PART)
                .map(i -> (long) part * NUMBERS_PER_PART + i)
                .sum();
    }

    private static RedissonClient connect(String url) {
        var config = new Config();
        config.useSingleServer().setAddress(url);
        return Redisson.create(config);
    }

    private static ChildJvm.Builder worker(String url, int index) {
        return ChildJvm.of(Worker.class).arguments(url, index == 0 ? "victim" : "worker");
    }

    private static int countOf(ChildJvm worker) {
        return Integer.parseInt(worker.await("COUNTED ", PATIENCE).substring("COUNTED ".length()));
    }

    /** Runs the batch; the exit code is 0 if every part was done and counted once. */
    public static void main(String[] args) throws InterruptedException {
        boolean isDone;
        long total;
        long left;
        int counted;
        String late;
        try (RedisServer server = RedisServer.launch();
                Fleet workers = Fleet.start(WORKERS, i -> worker(server.url(), i))) {
            RedissonClient redis = connect(server.url());
            try (Interlock interlock = Interlock.using(redis)) {
                var shared = new Shared(interlock, redis);
                IntStream.range(0, PARTS).forEach(part -> shared.parts.add(Integer.toString(part)));
                workers.awaitAll("READY", PATIENCE);
                shared.start.countDown();

                ChildJvm victim = workers.get(0);
                String stuckIn = victim.await("STUCK ", PATIENCE).substring("STUCK ".length());
                victim.kill();
                shared.parts.add(stuckIn);

                isDone = shared.done.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                left = shared.done.getCount();
                total = shared.total();
                counted = PARTS_BEFORE_STUCK + countOf(workers.get(1)) + countOf(workers.get(2));
                try (ChildJvm latecomer = ChildJvm.start(Latecomer.class, server.url())) {
                    late = latecomer.await("TOTAL ", PATIENCE);
                }
            }
            redis.shutdown();
        }
        long expected = IntStream.range(0, PARTS).mapToLong(Batch::sumOf).sum();
        boolean isOk = isDone && left == 0 && total == expected && counted == PARTS && late.equals("TOTAL " + expected);
        System.out.printf(
                "BATCH %s: %d of %d parts counted, %d of them by a worker that was killed;"
                        + " the total is %s, for a latecomer, too%n",
                isOk ? "OK" : "FAILED", counted, PARTS, PARTS_BEFORE_STUCK, total == expected ? "right" : "wrong");
        System.exit(isOk ? 0 : 1);
    }
}
