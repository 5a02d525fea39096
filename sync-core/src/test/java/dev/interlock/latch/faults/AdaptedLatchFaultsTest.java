package dev.interlock.latch.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.RedisUnavailableException;
import dev.interlock.testing.FaultProxy;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RedissonClient;

/** What an adapter mends of Redisson's latch, and what it can't. */
class AdaptedLatchFaultsTest extends LatchFaultFixture {
    private RedissonClient client;
    private RCountDownLatch counted;
    private RCountDownLatch undisturbed;

    @BeforeEach
    void connect() {
        // Without an answer, a count-down fails after one time-out.
        client = impatientClient();
        counted = client.getCountDownLatch(NAME);
        undisturbed = client(server().url()).getCountDownLatch(NAME);
    }

    private Interlock over() {
        return over(client, builder -> builder.commandTimeout(SHORT_TIMEOUT));
    }

    /** Redisson's own await() hangs for good then. */
    @Test
    void aLostMessageCostsASecond() {
        counted.trySetCount(1);
        DistributedCountDownLatch latch = over().adapt(counted);
        proxy().dropMessages(words -> words.get(1).contains("countdownlatch"), FaultProxy.ALWAYS);
        long before = proxy().droppedMessages();
        CompletableFuture<Boolean> waits = actor("waiter").begin(latch::await);
        CompletableFuture<Boolean> hangs =
                counted.awaitAsync().toCompletableFuture().thenApply(done -> true);
        // It asks once more after it has subscribed.
        await("Redisson waits, too")
                .during(Duration.ofMillis(300))
                .until(() -> String.valueOf(server().command("PUBSUB", "CHANNELS", "*countdownlatch*"))
                        .contains(NAME));
        undisturbed.countDown();
        assertThat(waits).succeedsWithin(PROMPTLY);
        assertThat(proxy().droppedMessages()).isGreaterThan(before);
        assertThat(latch.getCount()).isZero();
        assertThat(hangs).as("what Redisson does by itself").isNotDone();
        proxy().heal();
        // Sets the hanging one free.
        undisturbed.trySetCount(1);
        undisturbed.countDown();
    }

    /** Whether it has counted nobody knows, and to repeat it might count twice. */
    @Test
    void aCountDownWithoutConfirmationSaysSo() {
        counted.trySetCount(3);
        DistributedCountDownLatch latch = over().adapt(counted);
        proxy().stall();
        assertThatThrownBy(latch::countDown)
                .isInstanceOf(RedisUnavailableException.class)
                .hasMessageContaining(NAME);
        proxy().heal();
        await("answers again").ignoreExceptions().until(() -> latch.getCount() <= 3);
        undisturbed.delete();
    }

    /** Redisson's latches can be set anew; a latch of the JDK can't. */
    @Test
    void whatWasOpenIsAdaptedAnew() throws InterruptedException {
        Interlock session = over();
        counted.trySetCount(1);
        DistributedCountDownLatch first = session.adapt(counted);
        assertThat(session.adapt(counted)).isSameAs(first);
        first.countDown();
        first.await();
        counted.trySetCount(2);
        assertThat(first.getCount()).isZero();
        first.countDown();
        DistributedCountDownLatch second = session.adapt(counted);
        assertThat(second).isNotSameAs(first);
        assertThat(second.getCount()).isEqualTo(2);
        assertThat(second.await(0, TimeUnit.SECONDS)).isFalse();
        counted.delete();
    }
}
