package dev.interlock.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TestThreads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** A Redis and sessions that all tests of a class share. After each test, no name is held. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class HoldFixture {
    static final Duration PATIENCE = Duration.ofSeconds(20);
    static final Duration SHORT = Duration.ofMillis(100);

    final RedisServer redis = RedisServer.launch();
    final Interlock mine = Interlock.connect(redis.url());
    final Interlock other = Interlock.connect(redis.url());

    /** Notices the loss of a name at its next renewal, which is after a third of the lease. */
    final Interlock quick =
            Interlock.builder().uri(redis.url()).lease(Duration.ofSeconds(3)).open();

    TestThreads threads;
    private int tests;

    @BeforeEach
    void startThreads() {
        tests++;
        threads = new TestThreads(PATIENCE);
    }

    /** Returns a name, or what names begin with, that no other test of the class uses. */
    final String freshName() {
        return getClass().getSimpleName() + tests;
    }

    @AfterEach
    void expectNothingHeld() {
        threads.close();
        await("nothing is left but marks")
                .atMost(PATIENCE)
                .untilAsserted(() ->
                        assertThat(redis.keys()).allMatch(key -> key.matches("interlock:.*(mark|token|semaphore).*")));
        assertThat(mine.heldLocks() + other.heldLocks() + quick.heldLocks()).isZero();
    }

    @AfterAll
    void disconnect() {
        mine.close();
        other.close();
        quick.close();
        redis.close();
    }

    static Hold acquired(CompletableFuture<Hold> asked) {
        assertThat(asked).succeedsWithin(PATIENCE);
        return asked.join();
    }

    static void released(Hold hold) {
        assertThat(hold.release().toCompletableFuture()).succeedsWithin(PATIENCE);
    }

    static void assertWaits(CompletableFuture<?> asked) {
        assertThat(asked).failsWithin(SHORT);
    }
}
