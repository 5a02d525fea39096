package dev.interlock.benchmarks;

import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** All contestants by name, so that a child JVM can be told which one to run. */
final class Contestants {

    private static final LockOptions RETAINING = LockOptions.retain(Duration.ofSeconds(1));

    private static final Map<String, Contestant> ALL = Map.of(
            "Interlock", Contestant.locking(Interlock::connect, Interlock::lock, Interlock::close),
            "Interlock-fair", Contestant.locking(Interlock::connect, Interlock::fairLock, Interlock::close),
            "Interlock-retaining",
                    Contestant.locking(
                            Interlock::connect, (session, name) -> session.lock(name, RETAINING), Interlock::close),
            "Interlock-conditions", PingPong.throughConditions(),
            "pubsub-echo", PingPong.throughMessages(Contestants::redisson),
            "RLock", Contestant.locking(Contestants::redisson, RedissonClient::getLock, RedissonClient::shutdown),
            "RFairLock",
                    Contestant.locking(Contestants::redisson, RedissonClient::getFairLock, RedissonClient::shutdown),
            "ReentrantLock",
                    Contestant.<ConcurrentHashMap<String, Lock>>locking(
                            redisUrl -> new ConcurrentHashMap<>(),
                            (locks, name) -> locks.computeIfAbsent(name, absent -> new ReentrantLock()),
                            ConcurrentHashMap::clear));

    private Contestants() {}

    static Contestant named(String name) {
        Contestant contestant = ALL.get(name);
        if (contestant == null) {
            throw new IllegalArgumentException("No contestant '" + name + "', only " + ALL.keySet());
        }
        return contestant;
    }

    private static RedissonClient redisson(String redisUrl) {
        var config = new Config();
        config.useSingleServer().setAddress(redisUrl);
        return Redisson.create(config);
    }
}
