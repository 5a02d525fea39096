package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Runs the contract on an adapted latch. Redisson's own objects count for two sessions, each with a client of its own.
 */
@DisplayName("an adapted RCountDownLatch")
class AdaptedCountDownLatchTest extends CountDownLatchContract {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final RedisServer redis = RedisServer.launch();
    private final RedissonClient myClient = client();
    private final RedissonClient otherClient = client();
    private final Interlock mine = Interlock.using(myClient);
    private final Interlock other = Interlock.using(otherClient);
    private final Map<CountDownLatch, CountDownLatch> rivals = new ConcurrentHashMap<>();

    private RedissonClient client() {
        Config config = new Config();
        config.useSingleServer().setAddress(redis.url());
        return Redisson.create(config);
    }

    @Override
    protected CountDownLatch newLatch(int count) {
        RCountDownLatch counted = myClient.getCountDownLatch("adapted:" + NAMES.incrementAndGet());
        if (count > 0) {
            counted.trySetCount(count);
        }
        CountDownLatch latch = mine.adapt(counted);
        rivals.put(latch, other.adapt(otherClient.getCountDownLatch(counted.getName())));
        return latch;
    }

    @Override
    protected Optional<CountDownLatch> rivalOf(CountDownLatch latch) {
        return Optional.ofNullable(rivals.get(latch));
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(Deviation.TO_STRING_LAGS);
    }

    @Test
    @DisplayName("a count that nobody has asked for reads as unknown, not as that of an open latch")
    void countIsUnknownUntilItIsHeardOf() {
        CountDownLatch latch = newLatch(2);
        assertThat(latch.toString()).endsWith("[Count = unknown]");
        assertThat(latch.getCount()).isEqualTo(2);
        assertThat(latch.toString()).endsWith("[Count = 2]");
    }

    @AfterAll
    void close() {
        mine.close();
        other.close();
        List.of(myClient, otherClient).forEach(RedissonClient::shutdown);
        redis.close();
    }
}
