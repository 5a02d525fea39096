package dev.interlock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.ratelimit.RateLimit;
import dev.interlock.testing.Actor;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.context.ConfigurableApplicationContext;

/** A job with {@link Once} runs once per period, whichever application of the fleet calls it; limits are shared. */
class OnceTest {
    private static final RedisServer REDIS = RedisServer.launch();
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static final CountDownLatch INSIDE = new CountDownLatch(1);
    private static final CountDownLatch GO_ON = new CountDownLatch(1);

    private static final List<ConfigurableApplicationContext> APPLICATIONS = new ArrayList<>();

    @BeforeAll
    static void start() {
        APPLICATIONS.add(Application.start(REDIS.url(), Jobs.class));
        APPLICATIONS.add(Application.start(REDIS.url(), Jobs.class));
    }

    @AfterAll
    static void stop() {
        APPLICATIONS.forEach(ConfigurableApplicationContext::close);
        REDIS.close();
    }

    private static Jobs jobs(int application) {
        return APPLICATIONS.get(application).getBean(Jobs.class);
    }

    static class Jobs {
        @Once(name = "hourly", atLeast = "1h")
        public @Nullable String hourly() {
            return "run " + RUNS.incrementAndGet();
        }

        @Once(name = "hourly", atLeast = "1ms")
        public @Nullable String hourlyInAnotherVersion() {
            return "run " + RUNS.incrementAndGet();
        }

        @RateLimited(name = "impatient", permits = 1, per = "1h", waitAtMost = "1ms")
        public void impatient() {}

        @Once(name = "fails", atLeast = "1h")
        public void fails() {
            throw new IllegalStateException("failed");
        }

        @Once(name = "long", atLeast = "1ms")
        public @Nullable String longer() throws InterruptedException {
            INSIDE.countDown();
            GO_ON.await();
            return "done";
        }

        @Once(name = "nested", atLeast = "1ms")
        public @Nullable String nests(Jobs proxy) {
            return "nested: " + proxy.nests(proxy);
        }

        @Once(name = "interrupted", atLeast = "1h")
        public @Nullable Boolean isInterrupted() {
            return Thread.currentThread().isInterrupted();
        }

        @Once(name = "lost", atLeast = "1ms")
        public void loses(@Nullable RuntimeException failure) {
            REDIS.command("DEL", "once:lost");
            if (failure != null) {
                throw failure;
            }
        }

        @RateLimited(name = "search", key = "#{#user}", permits = 2, per = "1h")
        public String search(String user) {
            return "hits of " + user;
        }

        @RateLimited(
                name = "burst",
                permits = 1,
                per = "1h",
                burst = 3,
                algorithm = RateLimit.Algorithm.TOKEN_BUCKET,
                waitAtMost = "1ms")
        public void burst() {}
    }

    @Test
    void aJobThatIsDoneIsntRunAgainInItsPeriod() {
        assertThat(jobs(0).hourly()).isEqualTo("run 1");
        assertThat(jobs(0).hourly()).isNull();
        assertThat(jobs(1).hourly()).isNull();
        assertThat(jobs(1).hourlyInAnotherVersion()).isNull();
        assertThat(RUNS).hasValue(1);
    }

    @Test
    void aJobThatHasFailedIsntRunAgainInItsPeriod() {
        assertThatThrownBy(() -> jobs(0).fails()).hasMessage("failed");
        jobs(0).fails();
        jobs(1).fails();
    }

    @Test
    void noRunBeginsWhileAnotherOneGoesOn() throws InterruptedException {
        try (Actor runner = new Actor("runner")) {
            var run = runner.ask(() -> jobs(0).longer());
            INSIDE.await();
            assertThat(jobs(1).longer()).isNull();
            GO_ON.countDown();
            assertThat(run.join()).isEqualTo("done");
        }
    }

    /** Holds aren't reentrant: the inner call neither runs nor waits for the outer one. */
    @Test
    void aRunDoesntBeginAnotherOneOfItsName() {
        assertThat(jobs(0).nests(jobs(0))).isEqualTo("nested: null");
    }

    @Test
    void anInterruptIsForTheRun() {
        Thread.currentThread().interrupt();
        Boolean inRun = jobs(0).isInterrupted();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(inRun).isTrue();
        assertThat(jobs(1).isInterrupted()).isNull();
    }

    @Test
    void aRunThatHasLostItsLeaseSaysSo() {
        assertThatThrownBy(() -> jobs(0).loses(null)).isInstanceOf(LeaseLostException.class);
        var failure = new IllegalStateException("failed");
        await().atMost(Duration.ofSeconds(30))
                .untilAsserted(
                        () -> assertThatThrownBy(() -> jobs(1).loses(failure)).isSameAs(failure));
        assertThat(failure.getSuppressed()).hasSize(1).allMatch(LeaseLostException.class::isInstance);
    }

    @Test
    void callsBeyondTheLimitAreRefused() {
        assertThat(jobs(0).search("ann")).isEqualTo("hits of ann");
        assertThat(jobs(1).search("ann")).isEqualTo("hits of ann");
        assertThatThrownBy(() -> jobs(0).search("ann"))
                .isInstanceOfSatisfying(RateLimitExceededException.class, e -> {
                    assertThat(e.limiterName()).isEqualTo("search");
                    assertThat(e.limit().permits()).isEqualTo(2);
                    assertThat(e.decision().retryAfter()).isPositive();
                })
                .hasMessageContaining("rate limiter 'search' admits no more than a sliding window of 2 in PT1H");
        assertThat(jobs(0).search("bob")).isEqualTo("hits of bob");
    }

    /** One request each, whether it would wait or not. */
    @Test
    void aRefusalIsCountedOnce() {
        List<Boolean> decisions = new CopyOnWriteArrayList<>();
        Interlock session = APPLICATIONS.get(0).getBean(Interlock.class);
        SyncListener listener = new SyncListener() {
            @Override
            public void decided(String name, long permits, boolean granted) {
                if (name.equals("impatient")) {
                    decisions.add(granted);
                }
            }
        };
        session.addListener(listener);
        jobs(0).impatient();
        assertThatThrownBy(() -> jobs(0).impatient()).isInstanceOf(RateLimitExceededException.class);
        session.removeListener(listener);
        assertThat(decisions).containsExactly(true, false);
    }

    @Test
    void aBucketHasABurst() {
        for (int i = 0; i < 3; i++) {
            jobs(i % 2).burst();
        }
        assertThatThrownBy(() -> jobs(0).burst())
                .isInstanceOfSatisfying(
                        RateLimitExceededException.class,
                        e -> assertThat(e.decision().retryAfter()).isLessThanOrEqualTo(Duration.ofHours(1)));
    }
}
