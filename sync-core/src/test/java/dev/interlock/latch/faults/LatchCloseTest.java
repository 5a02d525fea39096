package dev.interlock.latch.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.Actor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;

/** close() ends every wait, waits for what was counted, and leaves open what is open. */
class LatchCloseTest extends LatchFaultFixture {

    @Test
    void whoWaitsIsSentAway() {
        Interlock session = session();
        DistributedCountDownLatch latch = of(session, 2);
        List<CompletableFuture<Boolean>> waits = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            waits.add(actor("waiter").begin(latch::await));
            waits.add(actor("timed").ask(() -> latch.await(1, TimeUnit.HOURS)));
        }
        awaitWaiting(1);
        session.close();
        waits.forEach(wait -> assertFails(wait, IllegalStateException.class, "closed"));
        assertThatThrownBy(latch::await).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(latch::countDown).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(latch::getCount).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> of(session, 2)).isInstanceOf(IllegalStateException.class);
        assertThat(left()).isEqualTo(2);
    }

    /** What a session has counted stays counted. */
    @Test
    void countDownsOutliveTheirSession() throws InterruptedException {
        Interlock session = session();
        of(session, 2).countDown();
        session.close();
        DistributedCountDownLatch latch = of(session(), 2);
        assertThat(latch.getCount()).isEqualTo(1);
        latch.countDown();
        latch.await();
    }

    @Test
    void closeWaitsForWhatIsNotConfirmed() {
        Interlock session = session();
        DistributedCountDownLatch latch = of(session, 2);
        Actor counter = actor("counter");
        proxy().delay(Duration.ofMillis(150));
        CompletableFuture<Boolean> counts = counter.begin(latch::countDown);
        await("under way").until(() -> counter.thread().getState() == Thread.State.TIMED_WAITING);
        session.close();
        assertThat(left()).isEqualTo(1);
        assertThat(counts).matches(done -> true).isNotCancelled();
    }

    @Test
    void adaptedWaitersAreSentAway() {
        RedissonClient client = client(proxy().url());
        Interlock session = over(client, builder -> builder);
        RCountDownLatch counted = client.getCountDownLatch(NAME);
        counted.trySetCount(1);
        DistributedCountDownLatch latch = session.adapt(counted);
        CompletableFuture<Boolean> waits = actor("waiter").begin(latch::await);
        CompletableFuture<Boolean> timed = actor("timed").ask(() -> latch.await(1, TimeUnit.HOURS));
        await("both wait").during(Duration.ofMillis(100)).until(() -> !waits.isDone() && !timed.isDone());
        session.close();
        assertFails(waits, IllegalStateException.class, "closed");
        assertFails(timed, IllegalStateException.class, "closed");
        assertThatThrownBy(latch::countDown).isInstanceOf(IllegalStateException.class);
        counted.delete();
    }
}
