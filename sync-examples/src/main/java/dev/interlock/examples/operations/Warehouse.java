package dev.interlock.examples.operations;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.examples.ratelimit.WebService;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.redisson.Redisson;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Something to look at: three JVMs whose threads hold locks, wait in queues and for a condition, share permits, and get
 * into a deadlock again and again.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=operations.Warehouse} starts them and the web service, whose page shows who holds
 * and who waits for what, until it is stopped.
 */
public final class Warehouse {

    private static final int BRANCHES = 3;
    private static final int USUAL_PORT = 8080;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Warehouse() {}

    /** Work that a thread does over and over. */
    private interface Work {
        void run() throws InterruptedException, BrokenBarrierException;
    }

    /** One of the JVMs. */
    static final class Branch {

        private static final Duration PATIENCE_OF_A_PICKER = Duration.ofSeconds(12);

        private final Interlock interlock;
        private final RAtomicLong lorries;
        private final int number;

        private Branch(Interlock interlock, RAtomicLong lorries, int number) {
            this.interlock = interlock;
            this.lorries = lorries;
            this.number = number;
        }

        public static void main(String[] args) throws InterruptedException {
            var config = new Config();
            config.useSingleServer().setAddress(args[0]);
            RedissonClient redis = Redisson.create(config);
            try (Interlock interlock = Interlock.using(redis)) {
                new Branch(interlock, redis.getAtomicLong("lorries"), Integer.parseInt(args[1])).open();
                ChildConsole.say("READY");
                ChildConsole.readCommand(); // none comes: this JVM ends with its parent
            }
        }

        private void open() {
            repeat("clerk", sellFrom("stock:4711"));
            repeat("trainee", sellFrom("stock:4711"));
            repeat("driver", drive());
            repeat("cashier", cashUp());
            repeat("loader", load());
            repeat("picker", pick());
            if (number == 1) {
                repeat("gatekeeper", letLorriesIn());
            }
        }

        private void repeat(String role, Work work) {
            Runnable forEver = () -> {
                try {
                    while (true) {
                        work.run();
                    }
                } catch (InterruptedException | BrokenBarrierException e) {
                    throw new IllegalStateException(e);
                }
            };
            new Thread(forEver, role + " " + number).start();
        }

        /** Six threads of three JVMs, in the order in which they came. */
        private Work sellFrom(String stock) {
            ReentrantLock lock = interlock.fairLock(stock);
            return () -> {
                work(lock, 2_000);
                Thread.sleep(500);
            };
        }

        /** Two forklifts for three drivers. */
        private Work drive() {
            DistributedSemaphore forklifts = interlock.semaphore("forklifts", 2);
            return () -> {
                forklifts.acquire();
                try {
                    Thread.sleep(3_000);
                } finally {
                    forklifts.release();
                }
                Thread.sleep(1_000);
            };
        }

        /** A till that no other branch wants: the session keeps it for its next use. */
        private Work cashUp() {
            ReentrantLock till = interlock.lock("till:" + number, LockOptions.retain(Duration.ofMinutes(1)));
            return () -> {
                work(till, 1_000);
                Thread.sleep(20_000);
            };
        }

        /** Loaders wait for the next lorry, which branch 1 lets in. */
        private Work load() {
            DistributedReentrantLock dock = interlock.lock("dock");
            Condition lorryIsThere = dock.newCondition("lorry is there");
            return () -> {
                dock.lock();
                try {
                    long before = lorries.get();
                    while (lorries.get() == before) {
                        lorryIsThere.await();
                    }
                    Thread.sleep(2_000);
                } finally {
                    dock.unlock();
                }
            };
        }

        private Work letLorriesIn() {
            DistributedReentrantLock dock = interlock.lock("dock");
            Condition lorryIsThere = dock.newCondition("lorry is there");
            return () -> {
                Thread.sleep(15_000);
                dock.lock();
                try {
                    lorries.incrementAndGet();
                    lorryIsThere.signalAll();
                } finally {
                    dock.unlock();
                }
            };
        }

        /** Each picker has an aisle and wants the next one, the last picker the first one: none of them goes on. */
        private Work pick() {
            CyclicBarrier shift = interlock.cyclicBarrier("shift", BRANCHES);
            ReentrantLock own = interlock.lock("aisle:" + number);
            ReentrantLock next = interlock.lock("aisle:" + (number % BRANCHES + 1));
            return () -> {
                Thread.sleep(3_000);
                own.lock();
                try {
                    shift.await();
                    if (number > 1) {
                        work(next, 500);
                    } else if (next.tryLock(PATIENCE_OF_A_PICKER.toSeconds(), TimeUnit.SECONDS)) {
                        next.unlock(); // and if not, it has given up, so that the others go on
                    }
                } finally {
                    own.unlock();
                }
            };
        }

        private static void work(Lock lock, long millis) throws InterruptedException {
            lock.lock();
            try {
                Thread.sleep(millis);
            } finally {
                lock.unlock();
            }
        }
    }

    /** Starts a Redis, the branches and the web service. */
    public static void main(String[] args) throws InterruptedException {
        try (RedisServer redis = RedisServer.launch();
                Fleet branches = Fleet.start(
                        BRANCHES, index -> ChildJvm.of(Branch.class).arguments(redis.url(), "" + (index + 1)));
                var service = WebService.start(redis.url(), Integer.getInteger("server.port", USUAL_PORT))) {
            branches.awaitAll("READY", PATIENCE);
            System.out.printf(
                    "SERVING at http://127.0.0.1:%d/operations.html, with a deadlock in a moment. Ctrl-C ends it.%n",
                    WebService.port(service));
            Thread.currentThread().join(); // for ever
        }
    }
}
