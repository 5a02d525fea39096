package dev.interlock.internal.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.SyncListener;
import dev.interlock.internal.lock.script.Contender;
import dev.interlock.internal.lock.script.LockScriptTest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** How scripts travel: alone or many at once, to a server that knows them or not. */
class ScriptRunnerTest extends LockScriptTest {
    private static final Script RENEW = Script.load("lock/renew");

    private final AtomicInteger outages = new AtomicInteger();
    private final ScriptRunner runner = runner(outages);

    private static ScriptRunner runner(AtomicInteger outages) {
        SyncListener listener = new SyncListener() {
            @Override
            public void redisUnreachable(Throwable cause) {
                outages.incrementAndGet();
            }
        };
        Settings settings = settings(listener, System::nanoTime);
        return new RedissonScriptRunner(
                redisson,
                settings,
                new Outage("session", settings, Runnable::run),
                new AnswerSpinner(System::nanoTime));
    }

    private Script.Call renewal(String lock, Contender by, long sequence) {
        return RENEW.on(
                List.of(lock, keys.queue(), keys.waiters(), keys.readers()),
                by.id,
                sequence,
                Contender.LEASE,
                keys.channel(),
                "publish");
    }

    private static <T> T answer(CompletableFuture<T> reply) {
        return reply.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static boolean owned(CompletableFuture<List<Object>> reply) {
        return answer(reply).get(0).equals(1L);
    }

    /** What is logged of a failure are Redis' words, in a line, without the script and the arguments of the command. */
    @Test
    void aFailureIsLoggedInALine() {
        redis("SET", keys.lock(), "a string");
        CompletableFuture<List<Object>> refused = runner.run(renewal(keys.lock(), contender(), 1));
        assertThatThrownBy(() -> answer(refused))
                .satisfies(failure -> assertThat(Failures.brief(failure))
                        .isEqualTo(
                                "RedisException: WRONGTYPE Operation against a key holding the wrong kind of value"));
        redis("DEL", keys.lock());
    }

    /** Renewals travel together, but what one of them meets touches no other. */
    @Test
    void brokenKeySpoilsNoOtherRenewalOfTheBatch() {
        Contender a = contender();
        String broken = keys.lock() + "-broken";
        a.own(1);
        redis("SET", broken, "no hash");
        redis("PEXPIRE", keys.lock(), "9000");
        List<CompletableFuture<List<Object>>> replies = runner.runAll(List.of(
                renewal(broken, a, 1), renewal(keys.lock(), a, 1), renewal(broken, a, 2), renewal(keys.lock(), a, 2)));
        assertThat(owned(replies.get(1))).isTrue();
        assertThat(owned(replies.get(3))).isFalse();
        assertThat(ttl(keys.lock())).isGreaterThan(9_000);
        for (int failed : List.of(0, 2)) {
            assertThatThrownBy(() -> answer(replies.get(failed))).hasMessageContaining("WRONGTYPE");
        }
        redis("DEL", broken);
    }

    /** A server that has forgotten the scripts costs a single call nothing, and batches one repeat. */
    @Test
    void forgottenScriptsAreLoadedAgain() {
        Contender a = contender();
        a.own(1);
        Script.Call renewal = renewal(keys.lock(), a, 1);
        assertThat(owned(runner.run(renewal))).isTrue();
        redis("SCRIPT", "FLUSH");
        assertThat(owned(runner.run(renewal))).isTrue();
        redis("SCRIPT", "FLUSH");
        List<CompletableFuture<List<Object>>> replies = runner.runAll(List.of(renewal, renewal));
        await().atMost(PATIENCE).until(() -> replies.stream().allMatch(CompletableFuture::isDone));
        assertThat(runner.runAll(List.of(renewal, renewal))).allMatch(ScriptRunnerTest::owned);
    }

    /** A server that answers that it doesn't know a script does answer. */
    @Test
    void forgottenScriptsAreNoOutage() {
        Contender a = contender();
        a.own(1);
        Script.Call renewal = renewal(keys.lock(), a, 1);
        await().atMost(PATIENCE)
                .ignoreExceptions()
                .until(() -> runner.runAll(List.of(renewal, renewal)).stream().allMatch(ScriptRunnerTest::owned));
        redis("SCRIPT", "FLUSH");
        List<CompletableFuture<List<Object>>> replies = runner.runAll(List.of(renewal, renewal));
        await().atMost(PATIENCE).until(() -> replies.stream().allMatch(CompletableFuture::isDone));
        assertThat(outages).hasValue(0);
    }

    /** More renewals than fit into one batch are all answered, each with its own answer. */
    @Test
    void largeBatchesAreAnsweredInOrder() {
        Contender a = contender();
        a.own(1);
        List<Script.Call> calls = LongStream.range(0, 600)
                .mapToObj(i -> renewal(keys.lock(), a, i % 3 == 0 ? 1 : 2))
                .toList();
        List<Boolean> owned =
                runner.runAll(calls).stream().map(ScriptRunnerTest::owned).toList();
        assertThat(owned).hasSize(600);
        for (int i = 0; i < 600; i++) {
            assertThat(owned.get(i)).as("renewal %d", i).isEqualTo(i % 3 == 0);
        }
    }
}
