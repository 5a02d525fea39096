package dev.interlock.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.net.http.HttpResponse;
import java.time.Duration;
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

    private static final Duration PATIENCE = Duration.ofMinutes(4);
    private static final int PARCELS = 20;
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

    @Test
    void invoicesAreSentByOneInstanceInEachPeriod() {
        await(() -> assertThat(database.invoiceRuns()).hasSizeGreaterThanOrEqualTo(6));
        assertThat(OrderDatabase.InvoiceRun.isOncePerPeriod(database.invoiceRuns()))
                .isTrue();
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
    @Tag("proof")
    void anInstanceThatEndsGivesItsLockBack() {
        try (Instance third = Instance.start("orders-3", 0, REDIS, database).awaitServing()) {
            Instance first = instances.get(0);
            long order;
            CompletableFuture<HttpResponse<String>> packing;
            CompletableFuture<HttpResponse<String>> waiting;
            int seconds = 4;
            do {
                assertThat(seconds).as("time enough, if the machine is busy").isLessThan(20);
                order = database.addOrder("a bed");
                packing = third.pack(order, "?time=" + seconds + "s");
                awaitThread("orders-3", "holders", order, packing);
                waiting = first.pack(order, "");
                seconds += 7;
            } while (!awaitThread("orders-1", "waiters", order, packing));
            assertThat(first.get("/actuator/interlock?glob=order:" + order).body())
                    .contains("\"name\":\"order:" + order + "\"", "\"orders-2\"");

            third.terminate();
            assertThat(parcel(packing.join()).path("number").asInt()).isEqualTo(1);
            assertThat(parcel(waiting.join()).path("number").asInt()).isEqualTo(2);
            assertThat(third.awaitEnd()).isEqualTo(128 + 15);
            assertThat(first.get("/actuator/interlock/order:" + order).statusCode())
                    .isEqualTo(404);
        }
    }

    /** Waits until the first instance shows a thread of another one in that role; returns false if that is too late. */
    private static boolean awaitThread(String instance, String role, long order, CompletableFuture<?> packing) {
        String path = "/actuator/interlock/order:" + order;
        while (!packing.isDone()) {
            HttpResponse<String> view = instances.get(0).get(path);
            JsonNode names = view.statusCode() == 200 ? JSON.readTree(view.body()) : JSON.createArrayNode();
            if (instance.equals(
                    names.path(0).path(role).path(0).path("sessionName").asString(""))) {
                return true;
            }
        }
        return false;
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
