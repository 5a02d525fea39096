package dev.interlock.examples;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.LongCodec;
import org.redisson.config.Config;

/**
 * First come, first served, across JVMs: customers of several JVMs wait for one counter, which a fair lock guards, and
 * draw a number when it is their turn.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=TicketQueue} has twelve customers of three JVMs come one after the other while the
 * counter is closed, opens it, and compares the order in which they came with the numbers they have drawn.
 */
public final class TicketQueue {

    private static final int JVMS = 3;
    private static final int CUSTOMERS = 12;
    private static final String LOCK = "counter";
    private static final String LAST_NUMBER = "counter:last-number";
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private TicketQueue() {}

    /** One of the JVMs, from which customers come when they are told to. */
    static final class Branch {

        public static void main(String[] args) throws InterruptedException {
            RedissonClient redis = connect(args[0]);
            try (Interlock interlock = Interlock.using(redis)) {
                ReentrantLock counter = interlock.fairLock(LOCK);
                RBucket<Long> lastNumber = redis.getBucket(LAST_NUMBER, LongCodec.INSTANCE);
                ChildConsole.say("READY");
                while (true) {
                    String customer = ChildConsole.readCommand();
                    new Thread(() -> visit(counter, lastNumber, customer)).start();
                }
            }
        }

        private static void visit(ReentrantLock counter, RBucket<Long> lastNumber, String customer) {
            counter.lock();
            try {
                long number = lastNumber.get() + 1;
                lastNumber.set(number); // without the lock somebody else may have drawn it meanwhile
                ChildConsole.say("SERVED " + customer + " " + number);
            } finally {
                counter.unlock();
            }
        }

        private static RedissonClient connect(String url) {
            var config = new Config();
            config.useSingleServer().setAddress(url);
            return Redisson.create(config);
        }
    }

    /** A customer who has been served. */
    private record Served(String customer, int number) {
        static Served parse(String line) {
            String[] words = line.split(" ", 3);
            return new Served(words[1], Integer.parseInt(words[2]));
        }
    }

    /** Has the customers queue and be served; the exit code is 0 if that was in the order in which they came. */
    public static void main(String[] args) throws InterruptedException {
        List<String> came;
        List<Served> served;
        try (RedisServer redis = RedisServer.launch();
                Fleet branches = Fleet.start(JVMS, Branch.class, redis.url());
                Interlock interlock = Interlock.connect(redis.url())) {
            branches.awaitAll("READY", PATIENCE);
            redis.command("SET", LAST_NUMBER, "0");
            ReentrantLock counter = interlock.fairLock(LOCK);
            counter.lock();
            try {
                came = queueUp(branches, redis);
            } finally {
                counter.unlock();
            }
            served = awaitServed(branches);
        }
        List<String> order = served.stream().map(Served::customer).toList();
        boolean isFair = order.equals(came);
        boolean isUnique = served.stream().map(Served::number).distinct().count() == CUSTOMERS;
        System.out.println("came:   " + String.join(" ", came));
        System.out.println("served: " + String.join(" ", order));
        System.out.printf(
                "TICKET QUEUE %s: %d customers of %d JVMs were %sserved in the order in which they came%n",
                isFair && isUnique ? "OK" : "FAILED", CUSTOMERS, JVMS, isFair ? "" : "not ");
        System.exit(isFair && isUnique ? 0 : 1);
    }

    // Nobody comes before the one before him stands in the queue.
    private static List<String> queueUp(Fleet branches, RedisServer redis) throws InterruptedException {
        List<Integer> jvms = new ArrayList<>(
                IntStream.range(0, CUSTOMERS).mapToObj(i -> i % JVMS).toList());
        Collections.shuffle(jvms, new Random(4711));
        var came = new ArrayList<String>();
        for (int jvm : jvms) {
            String customer = "jvm-" + (jvm + 1) + "/" + (came.size() + 1);
            branches.get(jvm).send(customer);
            came.add(customer);
            awaitQueue(redis, came.size());
        }
        return came;
    }

    private static void awaitQueue(RedisServer redis, long length) throws InterruptedException {
        long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
        while (!Long.valueOf(length).equals(redis.command("ZCARD", "interlock:{" + LOCK + "}:queue"))) {
            if (System.nanoTime() - deadlineNanos > 0) {
                throw new IllegalStateException("customer " + length + " hasn't come within " + PATIENCE);
            }
            Thread.sleep(5);
        }
    }

    private static List<Served> awaitServed(Fleet branches) {
        var served = new ArrayList<Served>();
        for (int i = 0; i < CUSTOMERS; i++) {
            ChildJvm branch = branches.get(i % JVMS);
            served.add(Served.parse(branch.await("SERVED ", PATIENCE)));
        }
        served.sort(Comparator.comparingInt(Served::number));
        return served;
    }
}
