package dev.interlock.examples.conditions;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.redisson.Redisson;
import org.redisson.api.RQueue;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * What conditions are for, across JVMs: bakeries put loaves on a shelf with little room, shops take them off; the one
 * waits while it is full, the other while it is empty, and each wakes the other.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=conditions.BoundedBuffer} runs two bakeries and two shops in JVMs of their own, and
 * checks that every loaf was sold once, those of a bakery in the order in which they were baked, and that the shelf was
 * never overfull.
 */
public final class BoundedBuffer {

    private static final int BAKERIES = 2;
    private static final int SHOPS = 2;
    private static final int LOAVES = 100;
    private static final int ROOM = 5;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private BoundedBuffer() {}

    /** A shelf in Redis. But for the loaves, nothing in it knows of other JVMs. */
    private static final class Shelf {

        private final ReentrantLock lock;
        private final Condition roomLeft;
        private final Condition loafThere;
        private final RQueue<String> loaves;

        // tag::shelf[]
        Shelf(ReentrantLock lock, RQueue<String> loaves) {
            this.lock = lock;
            this.roomLeft = lock.newCondition();
            this.loafThere = lock.newCondition();
            this.loaves = loaves;
        }

        /** Returns how many loaves are there then. */
        int put(String loaf) throws InterruptedException {
            lock.lock();
            try {
                while (loaves.size() >= ROOM) {
                    roomLeft.await();
                }
                loaves.add(loaf);
                loafThere.signal();
                return loaves.size();
            } finally {
                lock.unlock();
            }
        }
        // end::shelf[]

        String take() throws InterruptedException {
            lock.lock();
            try {
                String loaf = loaves.poll();
                while (loaf == null) {
                    loafThere.await();
                    loaf = loaves.poll();
                }
                roomLeft.signal();
                return loaf;
            } finally {
                lock.unlock();
            }
        }
    }

    /** One of the JVMs. */
    static final class Business {

        public static void main(String[] args) throws InterruptedException {
            var config = new Config();
            config.useSingleServer().setAddress(args[0]);
            RedissonClient redis = Redisson.create(config);
            try (Interlock interlock = Interlock.using(redis)) {
                var shelf = new Shelf(interlock.lock("shelf"), redis.getQueue("loaves", StringCodec.INSTANCE));
                ChildConsole.say("READY");
                switch (ChildConsole.readCommand()) {
                    case "bake" -> bake(shelf, args[1]);
                    case "sell" -> sell(shelf);
                    default -> throw new IllegalArgumentException();
                }
            }
            redis.shutdown();
        }

        private static void bake(Shelf shelf, String bakery) throws InterruptedException {
            int fullest = 0;
            for (int i = 1; i <= LOAVES; i++) {
                fullest = Math.max(fullest, shelf.put(bakery + " " + i));
            }
            ChildConsole.say("BAKED " + fullest);
        }

        private static void sell(Shelf shelf) throws InterruptedException {
            for (int i = 0; i < BAKERIES * LOAVES / SHOPS; i++) {
                ChildConsole.say("SOLD " + shelf.take());
            }
            ChildConsole.say("SOLD OUT");
        }
    }

    /**
     * Bakes and sells; the exit code is 0 if all loaves were sold once, in order, and the shelf never held too many.
     */
    public static void main(String[] args) {
        int fullest = 0;
        boolean isOrdered = true;
        List<String> sold = new ArrayList<>();
        try (RedisServer redis = RedisServer.launch();
                Fleet jvms = Fleet.start(
                        BAKERIES + SHOPS,
                        i -> ChildJvm.of(Business.class).arguments(redis.url(), "bakery-" + (i + 1)))) {
            jvms.awaitAll("READY", PATIENCE);
            for (int i = 0; i < jvms.size(); i++) {
                jvms.get(i).send(i < BAKERIES ? "bake" : "sell");
            }
            for (int i = 0; i < BAKERIES; i++) {
                String baked = jvms.get(i).await("BAKED ", PATIENCE);
                fullest = Math.max(fullest, Integer.parseInt(baked.substring("BAKED ".length())));
            }
            for (int i = BAKERIES; i < jvms.size(); i++) {
                jvms.get(i).await("SOLD OUT", PATIENCE);
                List<String> ofShop = jvms.get(i).lines().stream()
                        .filter(line -> line.startsWith("SOLD bakery"))
                        .toList();
                isOrdered &= isOrdered(ofShop);
                sold.addAll(ofShop);
            }
        }
        long different = sold.stream().distinct().count();
        boolean isOk = isOrdered && different == sold.size() && sold.size() == BAKERIES * LOAVES && fullest <= ROOM;
        System.out.printf(
                "BOUNDED BUFFER %s: %d loaves of %d JVMs sold once each by %d others%s,"
                        + " never more than %d on the shelf%n",
                isOk ? "OK" : "FAILED", different, BAKERIES, SHOPS, isOrdered ? " in order" : "", fullest);
        System.exit(isOk ? 0 : 1);
    }

    private static boolean isOrdered(List<String> sold) {
        Map<String, Integer> last = new HashMap<>();
        for (String line : sold) {
            String[] words = line.split(" ", 3);
            int number = Integer.parseInt(words[2]);
            Integer before = last.put(words[1], number);
            if (before != null && before >= number) {
                return false;
            }
        }
        return true;
    }
}
