package dev.interlock.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/** A Redis and sessions that all tests of a class share. After each test, nobody is a candidate. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ElectionFixture {
    static final Duration PATIENCE = Duration.ofSeconds(30);
    static final Duration LEASE = Duration.ofSeconds(3);

    final RedisServer redis = RedisServer.launch();
    final Interlock mine = Interlock.connect(redis.url());
    final Interlock other = Interlock.connect(redis.url());
    final Interlock third = Interlock.connect(redis.url());

    /** Notices the loss of a name at its next renewal, which is after a third of the lease. */
    final Interlock quick = Interlock.builder().uri(redis.url()).lease(LEASE).open();

    String name;
    private final List<Candidate> candidates = new ArrayList<>();
    private int tests;

    @BeforeEach
    void begin() {
        tests++;
        name = "n" + tests;
        candidates.clear();
    }

    /** The work of a leader that only an interrupt ends, or the end of the test. */
    static void untilInterrupted() throws InterruptedException {
        var unused = new CountDownLatch(1).await(PATIENCE.toSeconds() * 2, TimeUnit.SECONDS);
    }

    /** Returns a candidate that is closed after the test. */
    final Candidate closing(Candidate candidate) {
        candidates.add(candidate);
        return candidate;
    }

    final Candidate stand(Interlock session, TermListener listener) {
        return closing(session.election(name).stand(listener));
    }

    /** As {@link #stand}, and returns once Redis knows it beside that many others that wait. */
    final Candidate queue(Interlock session, TermListener listener, int others) {
        Candidate candidate = stand(session, listener);
        awaitWaiting(others + 1);
        return candidate;
    }

    final void awaitWaiting(int sessions) {
        String queue = "interlock:{" + key() + "}:queue";
        await(sessions + " waiting")
                .atMost(PATIENCE)
                .pollInterval(Duration.ofMillis(2))
                .until(() -> String.valueOf(redis.command("ZCARD", queue)).equals(Integer.toString(sessions)));
    }

    final String key() {
        return Election.PREFIX + name;
    }

    static void assertEnds(CompletionStage<Void> stage) {
        assertThat(stage.toCompletableFuture()).succeedsWithin(PATIENCE);
    }

    static void assertWaits(CompletionStage<Void> stage) {
        CompletableFuture<Void> waiting = stage.toCompletableFuture();
        assertThat(waiting).failsWithin(Duration.ofMillis(100));
    }

    @AfterEach
    void expectNothingHeld() {
        candidates.forEach(Candidate::close);
        await("nothing is left but marks")
                .atMost(PATIENCE)
                .untilAsserted(
                        () -> assertThat(redis.keys()).allMatch(key -> key.matches("interlock:.*(mark|token).*")));
        assertThat(mine.heldLocks() + other.heldLocks() + third.heldLocks() + quick.heldLocks())
                .isZero();
    }

    @AfterAll
    void disconnect() {
        List.of(mine, other, third, quick).forEach(Interlock::close);
        redis.close();
    }
}
