package dev.interlock.latch;

import dev.interlock.testing.OtherVersion;
import dev.interlock.testing.TestThreads.Running;
import dev.interlock.testing.TwoSessions;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the latch; a session of the last release counts it down. */
@DisplayName("DistributedCountDownLatch beside the last release")
@Tag("proof")
class LastReleaseCountDownLatchTest extends CountDownLatchContract {
    private final TwoSessions sessions = underTest(TwoSessions.connected());
    private final OtherVersion other = OtherVersion.released(sessions.redis().url());

    @Override
    protected CountDownLatch newLatch(int count) {
        String name = TwoSessions.nextName();
        return sessions.rivals(sessions.mine().countDownLatch(name, count), other.countDownLatch(name, count));
    }

    /** Besides, Redis knows of somebody. */
    @Override
    protected void awaitWaiting(CountDownLatch latch, Running<?> waiter) {
        super.awaitWaiting(latch, waiter);
        await("known to Redis")
                .until(() -> !sessions.redis().keys("interlock:waiters:*").isEmpty());
    }

    @AfterAll
    void close() {
        other.close();
    }
}
