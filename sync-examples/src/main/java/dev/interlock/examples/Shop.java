package dev.interlock.examples;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * A JVM of the flash sale. Its buyers buy one unit after the other, under the lock that is in force, until nothing is
 * left.
 */
final class Shop {

    static final int BUYERS = 8;
    static final String LOCK = "flash-sale:lock";
    static final Duration LEASE = Duration.ofSeconds(2);

    private static final long THINK_MILLIS = 2;
    private static final long MAX_CLOSE_MILLIS = 10_000;

    private final String name;
    private final boolean fencing;
    private final RedissonClient redis;
    private final Stock stock;
    private final Interlock interlock;
    private final Breakpoint breakpoint = new Breakpoint();
    private volatile boolean open;
    private List<Thread> buyers = List.of();

    private Shop(String name, String url, boolean fencing) {
        this.name = name;
        this.fencing = fencing;
        this.redis = connect(url);
        this.stock = new Stock(redis);
        this.interlock = Interlock.builder()
                .client(redis)
                .lease(LEASE)
                .listener(new SyncListener() {
                    @Override
                    public void lost(LeaseLostException loss) {
                        ChildConsole.say("LOST listener " + loss.getMessage());
                    }
                })
                .open();
    }

    /** Arguments: the name of the shop, the URL of Redis, and whether the store shall check fencing tokens. */
    public static void main(String[] args) throws InterruptedException {
        var shop = new Shop(args[0], args[1], Boolean.parseBoolean(args[2]));
        ChildConsole.say("READY " + shop.interlock.id());
        while (true) {
            String[] command = ChildConsole.readCommand().split(" ", 3);
            switch (command[0]) {
                case "open" -> shop.open(command[1]);
                case "hold" -> shop.breakpoint.arm(command[1], Integer.parseInt(command[2]));
                case "go" -> shop.breakpoint.letGo();
                case "close" -> shop.close();
                default -> throw new IllegalArgumentException(command[0]);
            }
        }
    }

    private void open(String kind) {
        Lock lock = switch (kind) {
            case "none" -> new NaiveLock.None();
            case "setnx" ->
                new NaiveLock.SetnxThenExpire(redis, () -> breakpoint.pass(Breakpoint.BETWEEN, stock::left));
            case "px" -> new NaiveLock.SetNxPx(redis);
            case "interlock" -> interlock.lock(LOCK);
            default -> throw new IllegalArgumentException(kind);
        };
        open = true;
        buyers = IntStream.rangeClosed(1, BUYERS)
                .mapToObj(number -> new Thread(() -> buy(lock), name + "/buyer-" + number))
                .toList();
        buyers.forEach(Thread::start);
    }

    private void close() throws InterruptedException {
        open = false;
        for (Thread buyer : buyers) {
            buyer.join(MAX_CLOSE_MILLIS);
        }
        ChildConsole.say("CLOSED");
    }

    private void buy(Lock lock) {
        boolean more = true;
        while (more) {
            try {
                more = buyOne(lock);
            } catch (LeaseLostException e) {
                ChildConsole.say("LOST unlock " + e.getMessage());
            } catch (RuntimeException | InterruptedException e) {
                ChildConsole.say("BROKEN " + Thread.currentThread().getName() + ": " + e);
                more = false;
            }
        }
    }

    private boolean buyOne(Lock lock) throws InterruptedException {
        String buyer = Thread.currentThread().getName();
        lock.lock();
        try {
            long token = lock instanceof DistributedReentrantLock ours ? ours.fencingToken() : 0;
            int units = stock.left();
            if (units <= 0 || !open) {
                return false;
            }
            boolean held = breakpoint.pass(Breakpoint.SECTION, () -> units);
            Thread.sleep(THINK_MILLIS);
            boolean sold = true;
            if (lock instanceof DistributedReentrantLock && fencing) {
                sold = stock.write(units - 1, buyer, token);
            } else {
                stock.write(units - 1, buyer);
            }
            if (held) {
                ChildConsole.say((sold ? "ACCEPTED " : "REFUSED ") + buyer);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private static RedissonClient connect(String url) {
        var config = new Config();
        config.setThreads(4).setNettyThreads(4);
        config.useSingleServer().setAddress(url).setConnectionMinimumIdleSize(2).setConnectionPoolSize(BUYERS + 4);
        return Redisson.create(config);
    }
}
