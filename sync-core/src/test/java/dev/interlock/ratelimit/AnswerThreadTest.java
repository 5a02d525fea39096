package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which threads complete the futures of limiters, and on whom they don't depend. */
@Tag("proof")
class AnswerThreadTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final RateLimit LIMIT = RateLimit.tokenBucket(1, Duration.ofMillis(50));

    private static final RedisServer REDIS = RedisServer.launch();

    private final Interlock interlock = RedisServer.connect(() -> Interlock.connect(REDIS.url()));
    private final RateLimiter limiter = interlock.rateLimiter("async", LIMIT);
    private final CountDownLatch goOn = new CountDownLatch(1);

    @AfterEach
    void close() {
        goOn.countDown();
        interlock.close();
        REDIS.resume();
        REDIS.command("FLUSHALL");
    }

    @AfterAll
    static void shutDown() {
        REDIS.close();
    }

    private void block() {
        try {
            goOn.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Futures that are not complete yet, of each kind, with and without a wait. */
    private static List<CompletableFuture<?>> ask(RateLimiter limiter) {
        return List.of(
                limiter.acquireAsync(1),
                limiter.acquireAsync(1),
                limiter.tryAcquireAsync(1),
                limiter.tryAcquireAsync(1, Duration.ofDays(1)),
                limiter.decideAsync(1));
    }

    /** A thread of Redisson's, of the timer or of the common pool has other things to do than what depends on them. */
    @Test
    void futuresCompleteOnThreadsOfTheSession() {
        REDIS.pause();
        List<CompletableFuture<String>> threads = ask(limiter).stream()
                .map(future ->
                        future.handle((done, failure) -> Thread.currentThread().getName()))
                .toList();
        REDIS.resume();
        assertThat(threads)
                .allSatisfy(thread ->
                        assertThat(thread).succeedsWithin(PATIENCE).asString().startsWith("interlock-continuations-"));
    }

    /** They needed the common pool: a task there that blocks kept them from completing. */
    @Test
    void futuresCompleteWhileTheCommonPoolIsBlocked() {
        // As many as it can have threads, those included that it starts where others are joined.
        for (int i = 0; i < ForkJoinPool.getCommonPoolParallelism() + 300; i++) {
            ForkJoinPool.commonPool().execute(this::block);
        }
        assertThat(ask(limiter)).allSatisfy(future -> assertThat(future).succeedsWithin(PATIENCE));
    }

    @Test
    void futuresCompleteWithoutACommonPool() {
        try (ChildJvm child = ChildJvm.of(Asking.class)
                .options("-Djava.util.concurrent.ForkJoinPool.common.parallelism=0")
                .arguments(REDIS.url())
                .start()) {
            child.await("DONE", PATIENCE.multipliedBy(4));
        }
    }

    /** Asks, and says when all is answered. */
    static final class Asking {
        private Asking() {}

        public static void main(String[] args) {
            try (Interlock interlock = RedisServer.connect(() -> Interlock.connect(args[0]))) {
                CompletableFuture<?>[] all =
                        ask(interlock.rateLimiter("child", LIMIT)).toArray(CompletableFuture<?>[]::new);
                CompletableFuture.allOf(all).join();
                ChildConsole.say("DONE");
            }
        }
    }

    /** What depends on a future asks for more and joins that, many times over. */
    @Test
    void whatDependsOnAFutureMayJoinOthers() {
        RateLimiter many = interlock.rateLimiter("many", RateLimit.fixedWindow(1_000, Duration.ofDays(1)));
        List<CompletableFuture<Boolean>> nested = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            nested.add(many.tryAcquireAsync(1)
                    .thenApply(isFirst -> many.tryAcquireAsync(1).join()));
        }
        assertThat(nested)
                .allSatisfy(
                        future -> assertThat(future).succeedsWithin(PATIENCE).isEqualTo(true));
    }

    /** What depends on a future and blocks keeps neither others from completing nor the session from working. */
    @Test
    void whatBlocksKeepsOthersFromNothing() {
        REDIS.pause();
        List<CompletableFuture<Void>> blocked = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            blocked.add(limiter.decideAsync(1).thenAccept(decision -> block()));
        }
        REDIS.resume();
        assertThat(limiter.acquireAsync(1)).succeedsWithin(PATIENCE);
        assertThat(blocked).noneMatch(CompletableFuture::isDone);
    }

    /** The session is closed while futures wait, also for an answer: all of them complete. */
    @Test
    void futuresCompleteWhenTheSessionIsClosed() {
        RateLimiter slow = interlock.rateLimiter("slow", RateLimit.fixedWindow(1, Duration.ofDays(1)));
        List<CompletableFuture<?>> all = new ArrayList<>(ask(slow));
        slow.acquireAsync(1);
        REDIS.pause();
        all.addAll(ask(slow));
        CompletableFuture<Void> closed = CompletableFuture.runAsync(interlock::close, task -> new Thread(task).start());
        assertThat(all)
                .allSatisfy(future ->
                        assertThat(future.handle((done, failure) -> true)).succeedsWithin(PATIENCE));
        REDIS.resume();
        assertThat(closed).succeedsWithin(PATIENCE);
    }
}
