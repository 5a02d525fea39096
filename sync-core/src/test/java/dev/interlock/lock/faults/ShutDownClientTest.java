package dev.interlock.lock.faults;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.DistributedReentrantLock;
import dev.interlock.DistributedSemaphore;
import dev.interlock.Interlock;
import java.util.LinkedHashMap;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

/** The application has shut its client down before the session: who asks is told that, and of no time-out. */
class ShutDownClientTest extends FaultFixture {
    private static final String NAME = "stock";

    @Override
    protected String lasting() {
        return super.lasting() + "|:semaphore(-retired|-sessions)?$|:barrier|latch";
    }

    @Test
    void everyLookSaysWhy() {
        RedissonClient client = client(server().url());
        Interlock session = over(client, builder -> builder);
        DistributedReentrantLock adapted = session.adapt(client.getLock("adapted"));
        DistributedSemaphore permits = session.semaphore(NAME, 1);
        DistributedCountDownLatch latch = session.countDownLatch(NAME, 1);
        DistributedCyclicBarrier barrier = session.cyclicBarrier(NAME, 2);
        Map<String, ThrowingCallable> looks = new LinkedHashMap<>();
        looks.put("isLocked", session.lock(NAME)::isRemotelyLocked);
        looks.put("adapted", adapted::isRemotelyLocked);
        looks.put("permits", permits::availablePermits);
        looks.put("count", latch::getCount);
        looks.put("arrived", barrier::getNumberWaiting);
        looks.put("broken", barrier::isBroken);
        looks.put("ping", session::ping);
        looks.put("sessions", session.operator()::sessions);
        looks.put("inspect", () -> session.operator().inspect(NAME));
        client.shutdown();
        await("shutdown").until(client::isShutdown);
        looks.forEach((what, look) -> assertThatThrownBy(look, what)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("shutdown")
                .hasMessageNotContaining(" ms"));
        server().command("FLUSHALL");
    }
}
