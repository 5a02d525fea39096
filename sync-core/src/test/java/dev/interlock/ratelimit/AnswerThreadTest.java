package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinWorkerThread;
import org.junit.jupiter.api.Test;

/** Where those go on who asked without blocking. */
class AnswerThreadTest {

    /**
     * Whoever goes on when an answer is there does so on a thread of the common pool. On one or two cores, a thread was
     * started for each answer.
     */
    @Test
    void answersComeOnThreadsOfTheCommonPool() {
        try (RedisServer redis = RedisServer.launch();
                Interlock interlock = Interlock.connect(redis.url())) {
            RateLimiter limiter = interlock.rateLimiter("async", RateLimit.fixedWindow(1, Duration.ofSeconds(1)));
            redis.pause();
            CompletableFuture<Thread> atOnce = limiter.acquireAsync(1).thenApply(wait -> Thread.currentThread());
            CompletableFuture<Thread> later = limiter.acquireAsync(1).thenApply(wait -> Thread.currentThread());
            redis.resume();
            assertThat(atOnce.join()).isInstanceOf(ForkJoinWorkerThread.class);
            assertThat(later.join()).isInstanceOf(ForkJoinWorkerThread.class);
        }
    }
}
