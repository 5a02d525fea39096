package dev.interlock.input;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.api.RCountDownLatch;

/** Bad arguments to latches get an error that names the argument, before anything reaches Redis. */
@SuppressWarnings("NullAway") // What null does is the question.
class LatchInputTest extends TwoConnections {

    private final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @Test
    void argumentsMustBeGiven() {
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.countDownLatch(null, 1))
                .withMessageContaining("name");
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.countDownLatch("any", 1, null))
                .withMessageContaining("retention");
        assertThatNullPointerException()
                .isThrownBy(() -> interlock.adapt((RCountDownLatch) null))
                .withMessageContaining("latch");
        DistributedCountDownLatch latch = interlock.countDownLatch(keyspace.name("unit"), 1);
        assertThatNullPointerException().isThrownBy(() -> latch.await(1, null)).withMessageContaining("unit");
    }

    @Test
    void argumentsMustBeInTheirRange() {
        String name = keyspace.name("range");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> interlock.countDownLatch("", 1))
                .withMessageContaining("name")
                .withMessageContaining("empty");
        for (int count : new int[] {-1, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> interlock.countDownLatch(name, count))
                    .withMessage("count must be 0 or more, but is " + count);
        }
        for (Duration retention : new Duration[] {
            Duration.ZERO,
            Duration.ofSeconds(-1),
            Duration.ofMillis(999),
            Duration.ofDays(365).plusNanos(1),
            Duration.ofSeconds(Long.MAX_VALUE)
        }) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> interlock.countDownLatch(name, 1, retention))
                    .withMessage("retention must be from 1 s to 365 days, but is " + retention);
        }
        assertThat(RedisServer.provided().keys("*" + name + "*")).isEmpty();
        assertThat(interlock.countDownLatch(name, 1, Duration.ofDays(365)).getCount())
                .isEqualTo(1);
        assertThat(other.countDownLatch(name, 1, Duration.ofSeconds(1)).getCount())
                .isEqualTo(1);
    }

    /** Both counts are named, whoever asks for the other one. */
    @Test
    void countIsAgreedOn() {
        String name = keyspace.name("count");
        DistributedCountDownLatch latch = interlock.countDownLatch(name, 3);
        latch.countDown();
        for (Interlock session : new Interlock[] {interlock, other}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> session.countDownLatch(name, 5))
                    .withMessageContaining(name)
                    .withMessageContaining("count of 3")
                    .withMessageContaining("count of 5");
            assertThat(session.countDownLatch(name, 3).getCount()).isEqualTo(2);
        }
        assertThat(interlock.countDownLatch(name, 3)).isSameAs(latch);
        latch.countDown();
        latch.countDown();
        assertThatIllegalArgumentException().isThrownBy(() -> other.countDownLatch(name, 5));
        assertThat(other.countDownLatch(name, 3).getCount()).isZero();
    }

    /** A name is free again when its retention is over, also for those who still have the latch of before. */
    @Test
    void nameIsFreeAfterItsRetention() throws InterruptedException {
        String name = keyspace.name("free");
        Duration retention = Duration.ofSeconds(5);
        DistributedCountDownLatch first = interlock.countDownLatch(name, 1, retention);
        first.countDown();
        assertThat(interlock.countDownLatch(name, 1, retention)).isSameAs(first);
        await("the end of the retention")
                .atMost(Duration.ofSeconds(30))
                .until(() -> RedisServer.provided()
                        .keys("interlock:{" + name + "}:latch")
                        .isEmpty());
        DistributedCountDownLatch next = interlock.countDownLatch(name, 2, retention);
        assertThat(next).isNotSameAs(first);
        assertThat(next.getCount()).isEqualTo(2);
        assertThat(other.countDownLatch(name, 2).getCount()).isEqualTo(2);
        first.countDown();
        first.await();
        assertThat(first.getCount()).isZero();
        assertThat(next.getCount()).isEqualTo(2);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b", "{c}", "x{y}z:w", "ü", "1 2 3"})
    void oddNamesAreNames(String odd) throws InterruptedException {
        String name = odd + keyspace.name("odd") + odd;
        DistributedCountDownLatch latch = interlock.countDownLatch(name, 2);
        DistributedCountDownLatch rival = other.countDownLatch(name, 2);
        assertThat(latch.getName()).isEqualTo(name);
        rival.countDown();
        assertThat(latch.getCount()).isEqualTo(1);
        assertThat(other.countDownLatch(name + "x", 1).getCount()).isEqualTo(1);
        latch.countDown();
        assertThat(rival.await(10, TimeUnit.SECONDS)).isTrue();
    }

    /** A lock, a latch and a read-write lock of one name have nothing to do with each other. */
    @Test
    void nameIsSharedByNothingElse() {
        String name = keyspace.name("shared");
        DistributedCountDownLatch latch = interlock.countDownLatch(name, 1);
        assertThat(interlock.lock(name).tryLock()).isTrue();
        assertThat(interlock.readWriteLock(name).readLock().tryLock()).isTrue();
        latch.countDown();
        assertThat(latch.getCount()).isZero();
        interlock.readWriteLock(name).readLock().unlock();
        interlock.lock(name).unlock();
    }

    @Test
    void namespaceSeparates() {
        String name = keyspace.name("spaced");
        try (Interlock spaced = Interlock.builder()
                .uri(RedisServer.provided().url())
                .namespace("team")
                .open()) {
            DistributedCountDownLatch latch = spaced.countDownLatch(name, 4);
            assertThat(latch.getName()).isEqualTo(name);
            assertThat(interlock.countDownLatch(name, 3).getCount()).isEqualTo(3);
            assertThat(RedisServer.provided().keys("interlock:{team:" + name + "}:latch"))
                    .hasSize(1);
        }
    }

    @Test
    void closedSessionHasNoLatches() {
        Interlock closed = Interlock.connect(RedisServer.provided().url());
        DistributedCountDownLatch latch = closed.countDownLatch(keyspace.name("closed"), 1);
        closed.close();
        assertThatIllegalStateException().isThrownBy(() -> closed.countDownLatch("any", 1));
        assertThatIllegalStateException().isThrownBy(latch::countDown);
        assertThatIllegalStateException().isThrownBy(latch::await);
        assertThatIllegalStateException().isThrownBy(() -> latch.await(1, TimeUnit.SECONDS));
        assertThatIllegalStateException().isThrownBy(latch::getCount);
    }
}
