package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCountDownLatch;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a JVM has counted stays counted when it is killed. */
@Tag("proof")
class KilledCounterTest {
    private static final int COUNT = 3;

    /** Counts, and waits to be killed. */
    static final class Counter {
        private Counter() {}

        public static void main(String[] args) throws InterruptedException {
            Interlock session = RedisServer.connect(() -> Interlock.connect(args[0]));
            DistributedCountDownLatch latch = session.countDownLatch(args[1], COUNT);
            latch.countDown();
            latch.countDown();
            ChildConsole.say("COUNTED");
            ChildConsole.readCommand();
        }
    }

    @Test
    void countDownsOfAKilledJvmCount() throws InterruptedException {
        String url = RedisServer.provided().url();
        String name = "killed-counter-" + UUID.randomUUID();
        try (Interlock session = Interlock.connect(url);
                ChildJvm counter = ChildJvm.start(Counter.class, url, name)) {
            counter.await("COUNTED", Duration.ofSeconds(60));
            counter.kill();
            DistributedCountDownLatch latch = session.countDownLatch(name, COUNT);
            assertThat(latch.getCount()).isEqualTo(1);
            assertThat(latch.await(0, TimeUnit.SECONDS)).isFalse();
            latch.countDown();
            assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }
}
