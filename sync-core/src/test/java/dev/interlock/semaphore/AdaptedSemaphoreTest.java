package dev.interlock.semaphore;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.redisson.Redisson;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Runs the contract on an adapted semaphore. Redisson's own objects decide between two sessions, each with a client of
 * its own.
 */
@DisplayName("an adapted RSemaphore")
class AdaptedSemaphoreTest extends SemaphoreContract {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final RedisServer redis = RedisServer.launch();
    private final RedissonClient myClient = client();
    private final RedissonClient otherClient = client();
    private final Interlock mine = Interlock.using(myClient);
    private final Interlock other = Interlock.using(otherClient);
    private final Map<Semaphore, Semaphore> rivals = new ConcurrentHashMap<>();

    private RedissonClient client() {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.url());
        return Redisson.create(config);
    }

    @Override
    protected Semaphore newSemaphore(int permits) {
        String name = "adapted:" + NAMES.incrementAndGet();
        RSemaphore semaphore = myClient.getSemaphore(name);
        semaphore.trySetPermits(permits);
        Semaphore adapted = mine.adapt(semaphore);
        rivals.put(adapted, other.adapt(otherClient.getSemaphore(name)));
        return adapted;
    }

    @Override
    protected Optional<Semaphore> rivalOf(Semaphore semaphore) {
        return Optional.ofNullable(rivals.get(semaphore));
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(
                Deviation.NOT_SERIALIZABLE,
                Deviation.TO_STRING_TELLS_NO_PERMITS,
                Deviation.NO_FIFO_ACROSS_SESSIONS,
                Deviation.SMALL_WAITS_BEHIND_LARGE_OF_ITS_SESSION,
                Deviation.NOTHING_IS_ALWAYS_THERE,
                Deviation.COUNT_UNCHECKED,
                Deviation.RETURN_LINGERS,
                Deviation.REQUEST_LINGERS);
    }

    @AfterAll
    void close() {
        List.of(mine, other).forEach(Interlock::close);
        List.of(myClient, otherClient).forEach(RedissonClient::shutdown);
        redis.close();
    }
}
