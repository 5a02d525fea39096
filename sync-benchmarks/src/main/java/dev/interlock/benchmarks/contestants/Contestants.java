package dev.interlock.benchmarks.contestants;

import static java.util.Map.entry;

import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import dev.interlock.LockOptions;
import dev.interlock.Transport;
import dev.interlock.benchmarks.contestants.Contestant.Turnstile;
import dev.interlock.benchmarks.peers.Curator;
import dev.interlock.benchmarks.peers.Etcd;
import dev.interlock.benchmarks.peers.Hazelcast;
import dev.interlock.benchmarks.peers.Postgres;
import dev.interlock.benchmarks.peers.SetNx;
import dev.interlock.benchmarks.peers.SpringRegistry;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.benchmarks.servers.Service;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.redisson.Redisson;
import org.redisson.api.RBucket;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** All contestants by name, so that a child JVM can be told which one to run. */
public final class Contestants {

    private static final LockOptions RETAINING = LockOptions.retain(Duration.ofSeconds(1));

    private static final LockOptions AT_ONCE = LockOptions.releaseAtOnce();

    private static final int PERMITS = 4;

    private static final int PREFETCHED = 1_000;

    private static final Duration SHORT_LEASE = Duration.ofSeconds(5);

    private static final Contestant PLAIN = Contestant.locking(Interlock::connect, Interlock::lock, Interlock::close);

    private static final Contestant NEW_NAMES =
            Contestant.lockingNewNames(Interlock::connect, Interlock::lock, Interlock::close);

    private static final Map<String, Contestant> ALL = Map.ofEntries(
            entry("Interlock", PLAIN),
            entry(
                    "Interlock-by-Redisson",
                    Contestant.locking(Contestants::byRedisson, Interlock::lock, Interlock::close)),
            entry("Interlock-fair", Contestant.locking(Interlock::connect, Interlock::fairLock, Interlock::close)),
            entry(
                    "Interlock-fair-by-Redisson",
                    Contestant.locking(Contestants::byRedisson, Interlock::fairLock, Interlock::close)),
            entry(
                    "Interlock-new-names-by-Redisson",
                    Contestant.lockingNewNames(Contestants::byRedisson, Interlock::lock, Interlock::close)),
            entry(
                    "Interlock-retaining",
                    Contestant.locking(
                            Interlock::connect, (session, name) -> session.lock(name, RETAINING), Interlock::close)),
            entry("Interlock-new-names", NEW_NAMES),
            entry("Interlock-viewed", Observed.by(PLAIN, Observed::operator)),
            entry("Interlock-new-names-viewed", Observed.by(NEW_NAMES, Observed::operator)),
            entry("Interlock-recorded", Observed.by(PLAIN, address -> Observed.recording())),
            entry("Interlock-metered", Observed.metered(Interlock::lock)),
            entry("Interlock-retaining-metered", Observed.metered((session, name) -> session.lock(name, RETAINING))),
            entry(
                    "Interlock-now-and-then",
                    Contestant.lockingNowAndThen(Interlock::connect, Interlock::lock, Interlock::close)),
            entry(
                    "at-once-now-and-then",
                    Contestant.lockingNowAndThen(
                            Interlock::connect, (session, name) -> session.lock(name, AT_ONCE), Interlock::close)),
            entry("Interlock-elsewhere", Elsewhere.afterwards(Interlock::connect, Interlock::lock, Interlock::close)),
            entry("Interlock-stormed", Elsewhere.storming(Interlock::connect, Interlock::lock, Interlock::close)),
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
                    "RLock-elsewhere",
                    Elsewhere.afterwards(Contestants::redisson, RedissonClient::getLock, RedissonClient::shutdown)),
            entry(
                    "RLock-new-names",
                    Contestant.lockingNewNames(
                            Contestants::redisson, RedissonClient::getLock, RedissonClient::shutdown)),
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
                                    nowhere -> new ConcurrentHashMap<>(),
                                    (locks, name) -> locks.computeIfAbsent(name, absent -> new ReentrantLock()),
                                    ConcurrentHashMap::clear)
                            .on(Service.NONE)),
            entry(
                    "ReentrantReadWriteLock",
                    Contestant.<ConcurrentHashMap<String, ReadWriteLock>>sharing(
                                    nowhere -> new ConcurrentHashMap<>(),
                                    (locks, name) ->
                                            locks.computeIfAbsent(name, absent -> new ReentrantReadWriteLock()),
                                    ConcurrentHashMap::clear)
                            .on(Service.NONE)),
            entry("round-trip", Contestant.working(Contestants::redisson, Contestants::read, RedissonClient::shutdown)),
            entry("SETNX", Contestant.excluding(Contestants::redisson, SetNx::new, RedissonClient::shutdown)),
            entry(
                    "RSpinLock",
                    Contestant.locking(Contestants::redisson, RedissonClient::getSpinLock, RedissonClient::shutdown)),
            entry(
                    "Spring-spin",
                    Contestant.locking(SpringRegistry::spinning, SpringRegistry::lock, SpringRegistry::close)),
            entry(
                    "Spring-pubsub",
                    Contestant.locking(SpringRegistry::listening, SpringRegistry::lock, SpringRegistry::close)),
            entry(
                    "Curator",
                    Contestant.excluding(Curator::new, Curator::lock, Curator::close)
                            .on(Service.ZOOKEEPER)),
            entry(
                    "Hazelcast",
                    Contestant.locking(Hazelcast::new, Hazelcast::lock, Hazelcast::close)
                            .on(Service.HAZELCAST)),
            entry(
                    "Postgres-advisory",
                    Contestant.excluding(Postgres::new, Postgres::advisoryLock, Postgres::close)
                            .on(Service.POSTGRES)),
            entry(
                    "Postgres-row",
                    Contestant.excluding(Postgres::new, Postgres::rowLock, Postgres::close)
                            .on(Service.POSTGRES)),
            entry(
                    "etcd",
                    Contestant.excluding(Etcd::new, Etcd::lock, Etcd::close).on(Service.ETCD)));

    private Contestants() {}

    /**
     * The one of that name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Contestant named(String name) {
        if (Sessions.areNamed(name)) {
            return Sessions.named(name);
        }
        Contestant contestant = ALL.get(name);
        if (contestant == null) {
            throw new IllegalArgumentException("No contestant '" + name + "', only " + ALL.keySet());
        }
        return contestant;
    }

    /**
     * Why a contestant can't play on this machine; empty if it can. Starts what it depends on.
     *
     * @throws IllegalArgumentException if there is no contestant of that name
     */
    public static Optional<String> absence(String name, Servers servers) {
        return servers.absence(named(name).service());
    }

    /** What a contestant is called in the results: of many sessions that of their lock, else its own name. */
    public static String title(String name) {
        return Sessions.areNamed(name) ? Sessions.kind(name) : name;
    }

    // The cheapest command there is that goes through all of Redisson: what any operation on Redis costs at least.
    private static Contestant.Work read(RedissonClient redis, String name) {
        RBucket<String> bucket = redis.getBucket(name, StringCodec.INSTANCE);
        return ledger -> {
            bucket.get();
            return true;
        };
    }

    /** By Redisson's connections instead of the session's own. */
    private static Interlock byRedisson(String redisUrl) {
        return Interlock.builder().uri(redisUrl).transport(Transport.REDISSON).open();
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
