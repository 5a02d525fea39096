package dev.interlock.readwrite;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Runs the contract on an adapted lock. Redisson's own objects decide between two sessions, each with a client of its
 * own.
 */
@DisplayName("an adapted RReadWriteLock")
class AdaptedReadWriteLockTest extends ReadWriteLockContract {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final RedisServer redis = RedisServer.launch();
    private final RedissonClient myClient = client();
    private final RedissonClient otherClient = client();
    private final Interlock mine = Interlock.using(myClient);
    private final Interlock other = Interlock.using(otherClient);
    private final Map<ReentrantReadWriteLock, ReentrantReadWriteLock> rivals = new ConcurrentHashMap<>();

    private RedissonClient client() {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.url());
        return Redisson.create(config);
    }

    @Override
    protected ReentrantReadWriteLock newLock() {
        String name = "adapted:" + NAMES.incrementAndGet();
        ReentrantReadWriteLock lock = mine.adapt(myClient.getReadWriteLock(name));
        rivals.put(lock, other.adapt(otherClient.getReadWriteLock(name)));
        return lock;
    }

    @Override
    protected Optional<ReentrantReadWriteLock> rivalOf(ReentrantReadWriteLock lock) {
        return Optional.ofNullable(rivals.get(lock));
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(
                Deviation.NO_CONDITIONS,
                Deviation.NOT_SERIALIZABLE,
                Deviation.TO_STRING_DIFFERS,
                Deviation.REMOTE_WAITER_NOT_QUEUED,
                Deviation.READERS_OVERTAKE_REMOTE_WRITER,
                Deviation.RELEASE_LINGERS);
    }

    @AfterAll
    void close() {
        mine.close();
        other.close();
        List.of(myClient, otherClient).forEach(RedissonClient::shutdown);
        redis.close();
    }
}
