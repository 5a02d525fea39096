package dev.interlock.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Two instances in JVMs of their own, and a third one that is stopped. */
class OrdersIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int PARCELS = 40;
    private static final String REDIS = RedisServer.provided().url();
    private static final JsonMapper JSON = new JsonMapper();

    private static OrderDatabase database;
    private static List<Instance> instances;

    @BeforeAll
    static void start() {
        database = new OrderDatabase();
        instances =
                List.of(Instance.start("orders-1", 0, REDIS, database), Instance.start("orders-2", 0, REDIS, database));
        instances.forEach(Instance::awaitServing);
    }

    @AfterAll
    static void stop() {
        instances.forEach(Instance::close);
        database.close();
    }

    private static void await(ThrowingRunnable assertion) {
        Awaitility.await().atMost(PATIENCE).pollInterval(Duration.ofMillis(50)).untilAsserted(assertion);
    }

    /** Has both instances pack parcels of one order, and returns the numbers that these were given, sorted. */
    private static List<Integer> numbers(String query) {
        long order = database.addOrder("a table");
        var requests = IntStream.range(0, PARCELS)
                .mapToObj(i -> instances.get(i % 2).pack(order, "?time=20ms" + query))
                .toList();
        return requests.stream()
                .map(CompletableFuture::join)
                .map(answer -> parcel(answer).path("number").asInt())
                .sorted()
                .toList();
    }

    private static JsonNode parcel(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).describedAs(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }

    /** Without the lock the same requests, which read, wait and write, lose what others have written. */
    @Test
    void requestsForOneOrderNeverOverlap() {
        assertThat(numbers(""))
                .isEqualTo(IntStream.rangeClosed(1, PARCELS).boxed().toList());
        assertThat(numbers("&locked=false")).hasSize(PARCELS).last().isNotEqualTo(PARCELS);
    }

    /** The sixth search in a minute is one too many, wherever it goes; other users are none the worse for it. */
    @Test
    void aUserIsRefusedByBoth() {
        String search = "/search?words=none&user=";
        String user = UUID.randomUUID().toString();
        for (int i = 0; i < 5; i++) {
            assertThat(instances.get(i % 2).get(search + user).statusCode()).isEqualTo(200);
        }
        for (Instance instance : instances) {
            HttpResponse<String> refused = instance.get(search + user);
            assertThat(refused.statusCode()).isEqualTo(429);
            assertThat(refused.headers().firstValue("RateLimit-Policy")).contains("\"search\";q=5;w=60");
            String retryAfter = refused.headers().firstValue("Retry-After").orElse("none");
            assertThat(retryAfter).matches("[1-9][0-9]?");
            assertThat(refused.headers().firstValue("RateLimit")).contains("\"search\";r=0;t=" + retryAfter);
            assertThat(instance.get(search + UUID.randomUUID()).statusCode()).isEqualTo(200);
        }
    }

    /** Both instances are scheduled for the same seconds; were both to run, their runs would hardly be apart. */
    @Test
    void invoicesAreSentByOneInstanceAtATime() {
        await(() -> assertThat(database.invoiceRuns()).hasSizeGreaterThanOrEqualTo(3));
        Instant before = Instant.MIN;
        for (var run : database.invoiceRuns()) {
            assertThat(run.began()).isAfter(before.plusSeconds(2));
            before = run.began();
        }
    }

    @Test
    void tellsHealthAndMetrics() {
        parcel(instances.get(0).pack(database.addOrder("a lamp"), "").join());
        JsonNode health = JSON.readTree(instances.get(0).get("/actuator/health").body());
        JsonNode session = health.path("components").path("interlock");
        assertThat(session.path("status").asString()).isEqualTo("UP");
        assertThat(session.path("details").path("session").asString()).isEqualTo("orders-1");
        assertThat(instances.get(0).get("/actuator/prometheus").body())
                .containsPattern("(?m)^interlock_lock_wait_seconds_count\\{.*} [1-9]");
    }

    @Test
    void anUnknownOrderIsMissing() {
        assertThat(instances.get(0).pack(0, "").join().statusCode()).isEqualTo(404);
    }

    /**
     * An instance that is asked to end while a request holds a lock answers that request. The lock is the next one's
     * then, whose patience of 20 s is shorter than the lease of 30 s.
     */
    @Test
    void anInstanceThatEndsGivesItsLockBack() {
        try (Instance third = Instance.start("orders-3", 0, REDIS, database).awaitServing()) {
            Instance first = instances.get(0);
            long order = database.addOrder("a bed");
            var packing = third.pack(order, "?time=6s");
            String path = "/actuator/interlock/order:" + order;
            await(() -> assertThat(thread(first.get(path), "holders")).isEqualTo("orders-3"));
            var waiting = first.pack(order, "");
            await(() -> assertThat(thread(first.get(path), "waiters")).isEqualTo("orders-1"));
            assertThat(first.get("/actuator/interlock?glob=order:" + order).body())
                    .contains("\"name\":\"order:" + order + "\"", "\"orders-2\"");

            third.terminate();
            assertThat(parcel(packing.join()).path("number").asInt()).isEqualTo(1);
            assertThat(parcel(waiting.join()).path("number").asInt()).isEqualTo(2);
            assertThat(third.awaitEnd()).isEqualTo(128 + 15);
            assertThat(first.get(path).statusCode()).isEqualTo(404);
        }
    }

    /** Whose thread is the first one of that role. */
    private static String thread(HttpResponse<String> view, String role) {
        assertThat(view.statusCode()).isEqualTo(200);
        return JSON.readTree(view.body())
                .path(0)
                .path(role)
                .path(0)
                .path("sessionName")
                .asString();
    }

    /** As it is run by hand. */
    @Test
    @Tag("proof")
    void showsAllThat() {
        try (var orders = ChildJvm.start(Orders.class)) {
            assertThat(orders.waitFor(PATIENCE.multipliedBy(2)))
                    .describedAs("%s", orders.lines())
                    .isZero();
            assertThat(orders.lines()).last().isEqualTo("ORDERS OK: two instances did as one would");
        }
    }
}
