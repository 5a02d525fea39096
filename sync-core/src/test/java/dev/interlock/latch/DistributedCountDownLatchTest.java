package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.TwoSessions;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;

/** Runs the contract on the latch over our own script; a second session counts it down. */
@DisplayName("DistributedCountDownLatch")
class DistributedCountDownLatchTest extends CountDownLatchContract {
    private final TwoSessions sessions = underTest(TwoSessions.connected());
    private final RedisServer redis = sessions.redis();

    @Override
    protected CountDownLatch newLatch(int count) {
        String name = TwoSessions.nextName();
        return sessions.rivals(
                sessions.mine().countDownLatch(name, count), sessions.other().countDownLatch(name, count));
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
        assertThat(redis.ttlMillis())
                .allSatisfy((key, millis) -> assertThat(millis)
                        .as(key)
                        .isBetween(
                                key.contains(":waiters:") ? -2L : 1L,
                                key.contains(":waiters:") ? 6_000L : 604_800_000L));
    }
}
