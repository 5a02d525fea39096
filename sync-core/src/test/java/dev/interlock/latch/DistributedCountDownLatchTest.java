package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TestThreads.Running;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;

/** Runs the contract on the latch over our own script; a second session counts it down. */
@DisplayName("DistributedCountDownLatch")
class DistributedCountDownLatchTest extends CountDownLatchContract {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final RedisServer redis = RedisServer.launch();
    private final Interlock mine = Interlock.connect(redis.url());
    private final Interlock other = Interlock.connect(redis.url());
    private final Map<CountDownLatch, CountDownLatch> rivals = new ConcurrentHashMap<>();

    @Override
    protected CountDownLatch newLatch(int count) {
        String name = "contract:" + NAMES.incrementAndGet();
        DistributedCountDownLatch latch = mine.countDownLatch(name, count);
        rivals.put(latch, other.countDownLatch(name, count));
        return latch;
    }

    @Override
    protected Optional<CountDownLatch> rivalOf(CountDownLatch latch) {
        return Optional.ofNullable(rivals.get(latch));
    }

    /** Besides, Redis knows. */
    @Override
    protected void awaitWaiting(CountDownLatch latch, Running<?> waiter) {
        super.awaitWaiting(latch, waiter);
        String key = "interlock:{" + ((DistributedCountDownLatch) latch).getName() + "}:latch";
        await("known to Redis")
                .until(() ->
                        redis.command("ZCARD", "interlock:waiters:" + key) instanceof Long sessions && sessions > 0);
    }

    /** Every key expires: within a day if the latch is open, within seconds if it only tells who waits. */
    @AfterEach
    void everyKeyExpires() {
        assertThat(redis.keys())
                .allSatisfy(key -> assertThat((Long) redis.command("PTTL", key))
                        .as(key)
                        .isBetween(
                                key.contains(":waiters:") ? -2L : 1L,
                                key.contains(":waiters:") ? 6_000L : 604_800_000L));
    }

    @AfterAll
    void close() {
        mine.close();
        other.close();
        redis.close();
    }
}
