package dev.interlock.examples.readwrite;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.redisson.Redisson;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A cache that one JVM refreshes and others read: a list of prices in Redis, cleared and loaded again, item by item,
 * under the write lock. The refresher then downgrades: it takes the read lock before it gives up the write lock, so
 * that all readers are let in, but nobody who could change what it is still checking.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=readwrite.PriceList} has three JVMs look prices up while another one refreshes
 * them, and checks that no reader found a list with gaps or with prices of two editions, and that none of them missed
 * an edition.
 */
public final class PriceList {

    private static final int READERS = 3;
    private static final int ITEMS = 20;
    private static final int EDITIONS = 25;
    private static final Duration VALIDITY = Duration.ofMillis(100);
    private static final Duration POLL = Duration.ofMillis(1);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private PriceList() {}

    /** The cache. Each price is the number of its edition, which tells whether two prices belong together. */
    private static final class Cache {

        private final ReentrantReadWriteLock lock;
        private final RedissonClient redis;
        private final RMap<String, String> prices;

        Cache(ReentrantReadWriteLock lock, RedissonClient redis) {
            this.lock = lock;
            this.redis = redis;
            this.prices = redis.getMap("prices", StringCodec.INSTANCE);
        }

        /** Returns whether the edition stayed as it was loaded until every reader had seen it. */
        boolean publish(int edition) {
            lock.writeLock().lock();
            try {
                prices.clear();
                for (int item = 1; item <= ITEMS; item++) {
                    prices.put("item-" + item, "" + edition);
                }
                lock.readLock().lock(); // the downgrade: from here on others read, too
            } finally {
                lock.writeLock().unlock();
            }
            try {
                awaitReaders(edition);
                return Collections.frequency(prices.readAllValues(), "" + edition) == ITEMS;
            } finally {
                lock.readLock().unlock();
            }
        }

        private void awaitReaders(int edition) {
            long beganNanos = System.nanoTime();
            while (readers(edition).get() < READERS) {
                if (System.nanoTime() - beganNanos > PATIENCE.toNanos()) {
                    throw new IllegalStateException("edition " + edition + " isn't read by all");
                }
                LockSupport.parkNanos(POLL.toNanos());
            }
        }

        /** Those who have seen an edition. */
        RAtomicLong readers(int edition) {
            return redis.getAtomicLong("readers:" + edition);
        }

        /** Returns the edition of two prices, or 0 if they don't belong together or aren't there. */
        int lookUp(String item, String other) {
            lock.readLock().lock();
            try {
                String price = prices.get(item);
                return price != null && price.equals(prices.get(other)) ? Integer.parseInt(price) : 0;
            } finally {
                lock.readLock().unlock();
            }
        }
    }

    /** One of the JVMs. */
    static final class Node {

        public static void main(String[] args) throws InterruptedException {
            var config = new Config();
            config.useSingleServer().setAddress(args[0]);
            RedissonClient redis = Redisson.create(config);
            try (Interlock interlock = Interlock.using(redis)) {
                var cache = new Cache(interlock.readWriteLock("prices"), redis);
                ChildConsole.say("READY");
                switch (ChildConsole.readCommand()) {
                    case "refresh" -> refresh(cache);
                    case "read" -> read(cache);
                    default -> throw new IllegalArgumentException();
                }
            }
            redis.shutdown();
        }

        private static void refresh(Cache cache) {
            int intact = 0;
            for (int edition = 1; edition <= EDITIONS; edition++) {
                intact += cache.publish(edition) ? 1 : 0;
                LockSupport.parkNanos(VALIDITY.toNanos());
            }
            ChildConsole.say("REFRESHED " + intact);
        }

        private static void read(Cache cache) {
            var random = new Random();
            int hits = 0;
            int torn = 0;
            int editions = 0;
            int last = 0;
            while (last < EDITIONS) {
                int edition = cache.lookUp(anyItem(random), anyItem(random));
                if (edition > last) {
                    last = edition;
                    editions++;
                    cache.readers(edition).incrementAndGet();
                }
                if (edition > 0) {
                    hits++;
                } else if (last > 0) { // else there has been nothing to read yet
                    torn++;
                }
            }
            ChildConsole.say("READ " + hits + " " + torn + " " + editions);
        }

        private static String anyItem(Random random) {
            return "item-" + (1 + random.nextInt(ITEMS));
        }
    }

    /** What a reader has seen. */
    private record Report(int hits, int torn, int editions) {

        static Report parse(String line) {
            String[] words = line.split(" ", -1);
            return new Report(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
        }

        @Override
        public String toString() {
            return String.format(
                    "%,d look-ups hit, %d found the list half-refreshed, %d editions", hits, torn, editions);
        }
    }

    /**
     * Refreshes and reads; the exit code is 0 if every edition was intact, and seen by all readers, and nobody saw half
     * of one.
     */
    public static void main(String[] args) {
        int intact;
        List<Report> reports = new ArrayList<>();
        try (RedisServer redis = RedisServer.launch();
                Fleet jvms = Fleet.start(1 + READERS, Node.class, redis.url())) {
            jvms.awaitAll("READY", PATIENCE);
            for (int i = 0; i < jvms.size(); i++) {
                jvms.get(i).send(i == 0 ? "refresh" : "read");
            }
            String refreshed = jvms.get(0).await("REFRESHED ", PATIENCE);
            intact = Integer.parseInt(refreshed.substring("REFRESHED ".length()));
            for (int i = 1; i < jvms.size(); i++) {
                var report = Report.parse(jvms.get(i).await("READ ", PATIENCE));
                System.out.println("reader " + i + ": " + report);
                reports.add(report);
            }
        }
        int hits = reports.stream().mapToInt(Report::hits).sum();
        int torn = reports.stream().mapToInt(Report::torn).sum();
        boolean isSeenByAll = reports.stream().allMatch(report -> report.editions() == EDITIONS);
        boolean isOk = intact == EDITIONS && torn == 0 && isSeenByAll;
        System.out.printf(
                "PRICE LIST %s: %d of %d editions intact and read by %s %d JVMs;"
                        + " %,d look-ups hit, %d found half a refresh%n",
                isOk ? "OK" : "FAILED", intact, EDITIONS, isSeenByAll ? "all" : "not all", READERS, hits, torn);
        System.exit(isOk ? 0 : 1);
    }
}
