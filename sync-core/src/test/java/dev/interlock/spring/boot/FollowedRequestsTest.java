package dev.interlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.interlock.Interlock;
import dev.interlock.spring.Locked;
import dev.interlock.testing.RedisServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;
import reactor.core.publisher.Mono;

/** Requests that Spring MVC answers later have their lock until then. */
class FollowedRequestsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final RedisServer REDIS = RedisServer.launch();
    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Interlock OTHER = Interlock.connect(REDIS.url());
    private static final ConfigurableApplicationContext APPLICATION = new SpringApplicationBuilder(Application.class)
            .bannerMode(Banner.Mode.OFF)
            .logStartupInfo(false)
            .registerShutdownHook(false)
            .properties(Map.of(
                    "interlock.uri", REDIS.url(),
                    "server.port", "0",
                    "server.address", "127.0.0.1",
                    "logging.config", "classpath:logback-test.xml"))
            .run();

    /** The work of each path, which the test ends. */
    private static final Map<String, CompletableFuture<String>> WORK = new ConcurrentHashMap<>();

    private static final Map<String, CountDownLatch> CALLBACKS = new ConcurrentHashMap<>();

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Application {}

    @RestController
    @Locked(name = "#{#id}")
    static class Orders {
        @GetMapping("/future/{id}")
        public CompletableFuture<String> future(@PathVariable("id") String id) {
            return work(id);
        }

        @GetMapping("/mono/{id}")
        public Mono<String> mono(@PathVariable("id") String id) {
            return Mono.fromFuture(work(id));
        }

        @GetMapping("/callable/{id}")
        public Callable<String> callable(@PathVariable("id") String id) {
            return () -> work(id).get();
        }

        @GetMapping("/task/{id}")
        public WebAsyncTask<String> task(@PathVariable("id") String id) {
            var task = new WebAsyncTask<>(60_000L, () -> work(id).get());
            task.onCompletion(() -> callback(id).countDown());
            return task;
        }

        @GetMapping("/result/{id}")
        public DeferredResult<String> result(@PathVariable("id") String id) {
            var result = new DeferredResult<String>(60_000L);
            result.onCompletion(() -> callback(id).countDown());
            work(id).whenComplete((value, failure) -> {
                if (failure == null) {
                    result.setResult(value);
                } else {
                    result.setErrorResult(failure);
                }
            });
            return result;
        }

        /** Nobody sets it. */
        @GetMapping("/late/{id}")
        public DeferredResult<String> late(@PathVariable("id") String id) {
            work(id);
            return new DeferredResult<>(500L, "too late");
        }

        /** Goes on after its time, until the test ends it. */
        @GetMapping("/long/{id}")
        public WebAsyncTask<String> tooLong(@PathVariable("id") String id) {
            var task = new WebAsyncTask<>(500L, () -> work(id).join());
            task.onTimeout(() -> "too late");
            return task;
        }
    }

    private static CompletableFuture<String> work(String id) {
        return WORK.computeIfAbsent(id, absent -> new CompletableFuture<>());
    }

    private static CountDownLatch callback(String id) {
        return CALLBACKS.computeIfAbsent(id, absent -> new CountDownLatch(1));
    }

    @AfterAll
    static void stop() {
        APPLICATION.close();
        OTHER.close();
        REDIS.close();
    }

    private static CompletableFuture<HttpResponse<String>> get(String path) {
        String port = APPLICATION.getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .build();
        return CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    }

    private static void awaitFree(String name) throws InterruptedException {
        assertThat(OTHER.lock(name).tryLock(PATIENCE)).isTrue();
        OTHER.lock(name).unlock();
    }

    @ParameterizedTest
    @ValueSource(strings = {"future", "mono", "callable", "task", "result"})
    void theLockLastsUntilTheRequestIsAnswered(String type) throws InterruptedException {
        for (boolean fails : new boolean[] {false, true}) {
            String id = type + fails;
            CompletableFuture<HttpResponse<String>> answer = get("/" + type + "/" + id);
            await().atMost(PATIENCE).until(() -> WORK.containsKey(id));
            assertThat(OTHER.lock(id).tryLock()).isFalse();
            if (fails) {
                work(id).completeExceptionally(new IllegalStateException("failed"));
            } else {
                work(id).complete("done");
            }
            assertThat(answer)
                    .succeedsWithin(PATIENCE)
                    .satisfies(response -> assertThat(response.statusCode()).isEqualTo(fails ? 500 : 200));
            awaitFree(id);
        }
    }

    /** Those of the application, which aren't replaced. */
    @ParameterizedTest
    @ValueSource(strings = {"task", "result"})
    void callbacksAreCalled(String type) throws InterruptedException {
        String id = type + "-callback";
        work(id).complete("done");
        assertThat(get("/" + type + "/" + id)).succeedsWithin(PATIENCE);
        assertThat(callback(id).await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aResultWhoseTimeIsOverIsGivenUp() throws InterruptedException {
        assertThat(get("/late/late"))
                .succeedsWithin(PATIENCE)
                .satisfies(response -> assertThat(response.body()).isEqualTo("too late"));
        awaitFree("late");
    }

    @Test
    void aTaskWhoseTimeIsOverHasTheLockUntilItReturns() throws InterruptedException {
        assertThat(get("/long/long"))
                .succeedsWithin(PATIENCE)
                .satisfies(response -> assertThat(response.body()).isEqualTo("too late"));
        assertThat(OTHER.lock("long").tryLock()).isFalse();
        work("long").complete("done");
        awaitFree("long");
    }

    @Test
    void aDeferredResultOutsideOfARequestIsRefused() {
        assertThat(catchThrowable(() -> APPLICATION.getBean(Orders.class).result("outside")))
                .hasMessageContaining("handles no request");
        assertThat(OTHER.lock("outside").tryLock()).isTrue();
        OTHER.lock("outside").unlock();
    }
}
