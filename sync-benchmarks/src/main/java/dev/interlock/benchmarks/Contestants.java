package dev.interlock.benchmarks;

import static java.util.Map.entry;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.benchmarks.Contestant.Turnstile;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.redisson.Redisson;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** All contestants by name, so that a child JVM can be told which one to run. */
final class Contestants {

    private static final LockOptions RETAINING = LockOptions.retain(Duration.ofSeconds(1));

    private static final int PERMITS = 4;

    private static final int PREFETCHED = 1_000;

    private static final Duration SHORT_LEASE = Duration.ofSeconds(5);

    private static final Map<String, Contestant> ALL = Map.ofEntries(
            entry("Interlock", Contestant.locking(Interlock::connect, Interlock::lock, Interlock::close)),
            entry("Interlock-fair", Contestant.locking(Interlock::connect, Interlock::fairLock, Interlock::close)),
            entry(
                    "Interlock-retaining",
                    Contestant.locking(
                            Interlock::connect, (session, name) -> session.lock(name, RETAINING), Interlock::close)),
            entry("Interlock-rw", Contestant.sharing(Interlock::connect, Interlock::readWriteLock, Interlock::close)),
            entry("Interlock-conditions", PingPong.throughConditions()),
            entry(
                    "Interlock-semaphore",
                    Contestant.crowding(
                            Interlock::connect,
                            (session, name) -> {
                                DistributedSemaphore semaphore = session.semaphore(name, PERMITS);
                                return new Turnstile(PERMITS, semaphore::acquire, semaphore::release);
                            },
                            Interlock::close)),
            entry("Interlock-latch", Meeting.byLatches()),
            entry("Interlock-barrier", Meeting.byBarrier()),
            entry("Interlock-bucket", Tap.ofOurs(1)),
            entry("Interlock-prefetch", Tap.ofOurs(PREFETCHED)),
            entry("RRateLimiter", Tap.ofRedisson(Contestants::redisson)),
            entry("Bucket4j", Tap.ofBucket4j(Contestants::redisson)),
            entry("pubsub-echo", PingPong.throughMessages(Contestants::redisson)),
            entry(
                    "RLock",
                    Contestant.locking(Contestants::redisson, RedissonClient::getLock, RedissonClient::shutdown)),
            entry(
                    "RFairLock",
                    Contestant.locking(Contestants::redisson, RedissonClient::getFairLock, RedissonClient::shutdown)),
            entry(
                    "RSemaphore",
                    Contestant.crowding(
                            Contestants::redisson,
                            (redis, name) -> {
                                RSemaphore semaphore = redis.getSemaphore(name);
                                semaphore.trySetPermits(PERMITS);
                                return new Turnstile(PERMITS, semaphore::acquire, semaphore::release);
                            },
                            RedissonClient::shutdown)),
            entry(
                    "RReadWriteLock",
                    Contestant.sharing(
                            Contestants::redissonOfShortLeases,
                            RedissonClient::getReadWriteLock,
                            RedissonClient::shutdown)),
            entry(
                    "ReentrantLock",
                    Contestant.<ConcurrentHashMap<String, Lock>>locking(
                            redisUrl -> new ConcurrentHashMap<>(),
                            (locks, name) -> locks.computeIfAbsent(name, absent -> new ReentrantLock()),
                            ConcurrentHashMap::clear)),
            entry(
                    "ReentrantReadWriteLock",
                    Contestant.<ConcurrentHashMap<String, ReadWriteLock>>sharing(
                            redisUrl -> new ConcurrentHashMap<>(),
                            (locks, name) -> locks.computeIfAbsent(name, absent -> new ReentrantReadWriteLock()),
                            ConcurrentHashMap::clear)));

    private Contestants() {}

    static Contestant named(String name) {
        Contestant contestant = ALL.get(name);
        if (contestant == null) {
            throw new IllegalArgumentException("No contestant '" + name + "', only " + ALL.keySet());
        }
        return contestant;
    }

    static boolean isKnown(String name) {
        return ALL.containsKey(name);
    }

    private static RedissonClient redisson(String redisUrl) {
        return redisson(redisUrl, new Config());
    }

    // A thread that begins to wait for an RReadWriteLock while it is released can miss that (Redisson's issue 4744). If
    // nobody
    // releases it again, as at the end of a round, the thread waits until the lease would be over: usually 30 s.
    private static RedissonClient redissonOfShortLeases(String redisUrl) {
        return redisson(redisUrl, new Config().setLockWatchdogTimeout(SHORT_LEASE.toMillis()));
    }

    private static RedissonClient redisson(String redisUrl, Config config) {
        config.useSingleServer().setAddress(redisUrl);
        return Redisson.create(config);
    }
}
