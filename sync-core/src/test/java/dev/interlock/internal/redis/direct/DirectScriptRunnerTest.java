package dev.interlock.internal.redis.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.internal.events.Listeners;
import dev.interlock.internal.redis.AnswerSpinner;
import dev.interlock.internal.redis.Outage;
import dev.interlock.internal.redis.Script;
import dev.interlock.internal.redis.ScriptRunner;
import dev.interlock.internal.redis.Settings;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What becomes of scripts while Redis stands still. */
class DirectScriptRunnerTest {
    private static final RedisServer SERVER = RedisServer.provided();
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(200);
    private static final Script PING = Script.load("session/ping");

    private final Queue<Runnable> looks = new ConcurrentLinkedQueue<>();
    private final Settings settings = new Settings(
            30_000,
            0,
            false,
            false,
            false,
            30_000_000_000L,
            COMMAND_TIMEOUT.toMillis(),
            0,
            "",
            "test",
            new Listeners(),
            System::nanoTime);

    /** Redis has renewed the leases whose renewals it finds; nobody has to send these once more. */
    @Test
    void aReplyCountsForAsLongAsALease() {
        Config config = new Config();
        config.setLazyInitialization(true);
        try (FaultProxy proxy = FaultProxy.to(SERVER)) {
            config.useSingleServer().setAddress(proxy.url());
            RedissonClient client = Redisson.create(config);
            ScriptRunner runner = new DirectScriptRunner(
                    client,
                    settings,
                    new Outage("session", settings, Runnable::run),
                    new AnswerSpinner(System::nanoTime),
                    (task, millis) -> looks.add(task),
                    "runner-test");
            try {
                assertThat(ping(runner)).succeedsWithin(PATIENCE);
                proxy.stall();
                CompletableFuture<?> late = ping(runner);
                long begun = System.nanoTime();
                Duration stall = COMMAND_TIMEOUT.multipliedBy(2L * ScriptRunner.PATIENCE);
                await().atMost(PATIENCE).until(() -> System.nanoTime() - begun > stall.toNanos());
                looks.remove().run();
                proxy.resume();
                assertThat(late).succeedsWithin(PATIENCE);
            } finally {
                runner.disconnect();
                client.shutdown();
            }
        }
    }

    private static CompletableFuture<?> ping(ScriptRunner runner) {
        return runner.run(PING.on(List.of(ScriptRunner.ANY_KEY)));
    }
}
