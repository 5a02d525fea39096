package dev.interlock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.spring.Locked;
import dev.interlock.spring.RateLimitExceededException;
import dev.interlock.spring.RateLimited;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.ErrorResponse;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** A whole application as its clients and its operators see it: one dependency, and {@code interlock.uri}. */
class WebTest {
    private static final RedisServer REDIS = RedisServer.launch();
    private static final CountDownLatch INSIDE = new CountDownLatch(1);
    private static final CountDownLatch GO_ON = new CountDownLatch(1);

    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final ConfigurableApplicationContext APPLICATION = start();

    /** That of the thread that holds {@code stock:a/b}. */
    private static long token;

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Orders.class, Errors.class})
    static class Application {}

    @RestController
    static class Orders {
        @GetMapping("/search/{user}")
        @RateLimited(name = "search", key = "#{#user}", permits = 1, per = "1h")
        public String search(@PathVariable("user") String user) {
            return "hits of " + user;
        }

        @GetMapping("/ship/{id}")
        @Locked(name = "order:#{#id}")
        public String ship(@PathVariable("id") String id) throws InterruptedException {
            INSIDE.countDown();
            GO_ON.await();
            return "shipped " + id;
        }
    }

    /** As many applications have it: whatever isn't handled elsewhere is an error of the server. */
    @RestControllerAdvice
    static class Errors {
        @ExceptionHandler(Exception.class)
        ResponseEntity<String> anything(Exception e) throws Exception {
            if (e instanceof ErrorResponse) {
                throw e;
            }
            return ResponseEntity.internalServerError().body(e.getClass().getName());
        }
    }

    /** An application that answers in its own way. */
    @RestControllerAdvice
    static class Teapot {
        @ExceptionHandler
        ResponseEntity<String> refuse(RateLimitExceededException e) {
            return ResponseEntity.status(418).body(e.limiterName());
        }
    }

    private static ConfigurableApplicationContext start(Class<?>... more) {
        return new SpringApplicationBuilder(Application.class)
                .sources(more)
                .bannerMode(Banner.Mode.OFF)
                .logStartupInfo(false)
                .registerShutdownHook(false)
                .properties(Map.of(
                        "interlock.uri", REDIS.url(),
                        "server.port", "0",
                        "server.address", "127.0.0.1",
                        "server.shutdown", "graceful",
                        "management.endpoints.web.exposure.include", "*",
                        "management.endpoint.health.show-details", "always",
                        "management.endpoint.interlock.access", "unrestricted",
                        "logging.config", "classpath:logback-test.xml"))
                .run();
    }

    @BeforeAll
    static void holdLocks() {
        Interlock interlock = APPLICATION.getBean(Interlock.class);
        interlock.lock("stock:a/b").lock();
        token = interlock.lock("stock:a/b").fencingToken();
    }

    @AfterAll
    static void stop() {
        APPLICATION.close();
        REDIS.close();
    }

    private static HttpRequest.Builder request(String path) {
        return request(APPLICATION, path);
    }

    private static HttpRequest.Builder request(ConfigurableApplicationContext application, String path) {
        String port = application.getEnvironment().getRequiredProperty("local.server.port");
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    }

    private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return CLIENT.send(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void aClientIsToldOfItsLimit() throws IOException, InterruptedException {
        assertThat(get("/search/ann").body()).isEqualTo("hits of ann");
        HttpResponse<String> refusal = get("/search/ann");
        assertThat(refusal.statusCode()).isEqualTo(429);
        assertThat(refusal.headers().firstValueAsLong("Retry-After").orElse(0)).isBetween(3_500L, 3_600L);
        assertThat(refusal.headers().firstValue("RateLimit-Policy")).contains("\"search\";q=1;w=3600");
        assertThat(refusal.headers().firstValue("RateLimit").orElse("")).startsWith("\"search\";r=0;t=");
        assertThat(refusal.headers().firstValue("Content-Type")).contains("application/problem+json");
        assertThat(get("/search/bob").statusCode()).isEqualTo(200);
    }

    @Test
    void adviceThatNamesTheExceptionComesFirst() throws IOException, InterruptedException {
        try (ConfigurableApplicationContext polite = start(Teapot.class)) {
            HttpRequest search = request(polite, "/search/cid").build();
            assertThat(CLIENT.send(search, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200);
            assertThat(CLIENT.send(search, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .isEqualTo(418);
        }
    }

    @Test
    void operatorsSeeNamesAndTakeLocks() throws IOException, InterruptedException {
        awaitShown("/actuator/interlock", "\"name\":\"stock:a/b\"", "\"sessions\":[{");
        assertThat(get("/actuator/interlock?glob=none*").body()).contains("\"names\":[]");
        // A string, since JavaScript makes another number of it.
        awaitShown("/actuator/interlock/stock:a/b", "\"state\":\"INSIDE\"", "\"token\":\"" + token + "\"");
        assertThat(get("/actuator/interlock/free").statusCode()).isEqualTo(404);
        assertThat(delete("/actuator/interlock/stock:a/b?token=" + (token + 1))).contains("false");
        await().until(() ->
                delete("/actuator/interlock/stock:a/b?token=" + token).contains("true")
                        || get("/actuator/interlock/stock:a/b").statusCode() == 404);
    }

    /** On a busy machine, or when its code is new to the JVM, a look may take longer: so there are several. */
    @ParameterizedTest
    @ValueSource(ints = {5_000, 10_000})
    @Tag("proof")
    void allHeldNamesAreShownSoon(int count) {
        Interlock interlock = APPLICATION.getBean(Interlock.class);
        List<DistributedReentrantLock> held = IntStream.range(0, count)
                .mapToObj(i -> interlock.lock("held:" + i))
                .toList();
        held.forEach(Lock::lock);
        await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
            long begun = System.nanoTime();
            String seen = get("/actuator/interlock?glob=held:*").body();
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(3));
            assertThat(seen.split("\"name\":\"held:", -1)).hasSize(count + 1);
        });
        held.forEach(Lock::unlock);
    }

    /** On a busy machine the answer of a session may come later than the endpoint waits for it. */
    private static void awaitShown(String path, String... texts) {
        await().atMost(Duration.ofMinutes(1))
                .untilAsserted(() -> assertThat(get(path).body()).contains(texts));
    }

    private static String delete(String path) throws IOException, InterruptedException {
        return CLIENT.send(request(path).DELETE().build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void healthHasTheSession() throws IOException, InterruptedException {
        assertThat(get("/actuator/health").body())
                .contains("\"interlock\":{", "\"roundTrip\":\"PT", "\"status\":\"UP\"");
    }

    /** The request is inside its lock when the application is told to stop; it is answered all the same. */
    @Test
    void aRequestThatHoldsALockIsAnsweredBeforeTheEnd() throws InterruptedException {
        ConfigurableApplicationContext stopped = start();
        CompletableFuture<HttpResponse<String>> answer =
                CLIENT.sendAsync(request(stopped, "/ship/1").build(), HttpResponse.BodyHandlers.ofString());
        INSIDE.await();
        Interlock interlock = stopped.getBean(Interlock.class);
        var stop = new Thread(stopped::close, "stop");
        stop.start();
        await().until(() -> stop.getState() == Thread.State.WAITING || stop.getState() == Thread.State.TIMED_WAITING);
        assertThat(interlock.lock("order:1").isLocked()).isTrue();
        GO_ON.countDown();
        assertThat(answer.join().body()).isEqualTo("shipped 1");
        stop.join();
    }
}
