package dev.interlock.benchmarks.play;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.RedisServer;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A child JVM that locks many names, says what that took, and goes on holding them. */
final class Holder {

    private static final int BEFOREHAND = 200;
    private static final int COLLECTIONS = 5;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private Holder() {}

    public static void main(String[] args) throws InterruptedException {
        Function<String, Lock> locks = locks(args[0], args[1]);
        int names = Integer.parseInt(args[2]);
        for (int i = 0; i < BEFOREHAND; i++) { // whatever is loaded once, and stays
            Lock lock = locks.apply("before-" + i);
            lock.lock();
            lock.unlock();
        }
        long before = usedBytes();
        long startNanos = System.nanoTime();
        Lock[] held = IntStream.range(0, names)
                .mapToObj(i -> locks.apply("name-" + i))
                .peek(Lock::lock)
                .toArray(Lock[]::new);
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        ChildConsole.say("held " + (double) (usedBytes() - before) / names + " " + names / seconds);
        ChildConsole.readCommand();
        for (Lock lock : held) {
            lock.unlock();
        }
    }

    private static Function<String, Lock> locks(String redisUrl, String contestant) {
        if (contestant.startsWith("Interlock")) {
            Interlock session = RedisServer.connect(() -> Interlock.connect(redisUrl));
            return session::lock;
        }
        var config = new Config();
        config.useSingleServer().setAddress(redisUrl);
        RedissonClient redis = RedisServer.connect(() -> Redisson.create(config));
        return switch (contestant) {
            case "RLock" -> redis::getLock;
            case "RFairLock" -> redis::getFairLock;
            case "RSpinLock" -> redis::getSpinLock;
            default -> throw new IllegalArgumentException("Nobody knows how to hold names of " + contestant);
        };
    }

    // What is only let go by a thread that hears of the first collection is free after a later one.
    private static long usedBytes() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < COLLECTIONS; i++) {
            System.gc();
            least = Math.min(
                    least,
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return least;
    }
}
