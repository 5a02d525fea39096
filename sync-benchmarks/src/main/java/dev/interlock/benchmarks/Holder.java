package dev.interlock.benchmarks;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.Lock;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A child JVM that locks many names, says what that took, and goes on holding them. */
final class Holder {

    private Holder() {}

    public static void main(String[] args) throws InterruptedException {
        Function<String, Lock> locks = locks(args[0], args[1]);
        int names = Integer.parseInt(args[2]);
        Lock first = locks.apply("first");
        first.lock(); // whatever is loaded once, and stays
        first.unlock();
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
            Interlock session = Interlock.connect(redisUrl);
            return session::lock;
        }
        var config = new Config();
        config.useSingleServer().setAddress(redisUrl);
        RedissonClient redis = Redisson.create(config);
        return switch (contestant) {
            case "RLock" -> redis::getLock;
            case "RFairLock" -> redis::getFairLock;
            case "RSpinLock" -> redis::getSpinLock;
            default -> throw new IllegalArgumentException("Nobody knows how to hold names of " + contestant);
        };
    }

    // Twice, for what the first time only lets go.
    private static long usedBytes() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
