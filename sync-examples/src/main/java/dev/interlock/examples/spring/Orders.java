package dev.interlock.examples.spring;

import dev.interlock.testing.RedisServer;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * Two instances of one order service, which exclude each other, share a limit and a scheduled job, tell who holds what,
 * and end without leaving anything locked, all by annotations.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=spring.Orders} starts them and sends them requests, tells what it has seen, and
 * ends; the exit code is 0 if the last line says {@code OK}. With {@code -Dorders.stay=true} they stay, at port 8080
 * and the next one or at those after {@code -Dserver.port}, until Ctrl-C.
 */
public final class Orders {

    private static final int USUAL_PORT = 8080;
    private static final int PARCELS = 40;
    private static final int SEARCHES = 8;
    private static final int SEARCHES_ADMITTED = 5;
    private static final int RUNS = 6;
    private static final int ENDED_BY_SIGTERM = 128 + 15;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final OrderDatabase database;
    private final Instance first;
    private final Instance second;
    private final List<String> missing = new ArrayList<>();

    private Orders(OrderDatabase database, Instance first, Instance second) {
        this.database = database;
        this.first = first;
        this.second = second;
    }

    /** Starts the instances, and plays what is to be seen or lets them stay. */
    public static void main(String[] args) throws InterruptedException {
        boolean stay = Boolean.getBoolean("orders.stay");
        int port = stay ? Integer.getInteger("server.port", USUAL_PORT) : 0;
        String given = System.getProperty("redis.url", "");
        String redisUrl = given.isBlank() ? RedisServer.provided().url() : given;
        boolean ok;
        try (var database = new OrderDatabase();
                Instance first = Instance.start("orders-1", port, redisUrl, database);
                Instance second = Instance.start("orders-2", port == 0 ? 0 : port + 1, redisUrl, database)) {
            var orders = new Orders(database, first, second);
            for (Instance instance : List.of(first, second)) {
                instance.awaitServing();
                say("%s is pid %d at %s", instance.name(), instance.pid(), instance.url());
            }
            if (stay) {
                orders.tellWhatToTry();
                Thread.currentThread().join(); // for ever
            }
            ok = orders.play();
        }
        System.exit(ok ? 0 : 1);
    }

    private static void say(String format, Object... arguments) {
        System.out.printf(format + "%n", arguments);
    }

    private void tellWhatToTry() {
        long order = database.addOrder("a chair");
        say("""

                SERVING until Ctrl-C. The first command packs a parcel, and the others ask the other instance meanwhile:

                    curl -X POST '%1$s/orders/%3$d/parcels?time=15s' &
                    curl -X POST '%2$s/orders/%3$d/parcels' &
                    curl %2$s/actuator/interlock/order:%3$d
                    curl -i '%2$s/search?user=alice&words=chair'
                    curl %2$s/actuator/health
                    curl -s %2$s/actuator/prometheus | grep ^interlock""", first.url(), second.url(), order);
    }

    private boolean play() throws InterruptedException {
        packTogether();
        search();
        endWhilePacking();
        watchInvoices();
        boolean ok = missing.isEmpty();
        say(
                "%nORDERS %s: %s",
                ok ? "OK" : "FAILED",
                ok ? "two instances did as one would" : "not seen: " + String.join(", ", missing));
        return ok;
    }

    private void expect(boolean seen, String what) {
        if (!seen) {
            missing.add(what);
        }
    }

    private void packTogether() {
        say("%n%d requests for one order, half of them at each instance", PARCELS);
        int unlocked = packed("&locked=false");
        say("  without a lock:        %d parcels were counted, %d were lost", unlocked, PARCELS - unlocked);
        int locked = packed("");
        say("  @Locked @Transactional: %d parcels were counted, %d were lost", locked, PARCELS - locked);
        expect(unlocked < PARCELS, "parcels lost without a lock");
        expect(locked == PARCELS, "all parcels of the locked order");
    }

    private int packed(String query) {
        long order = database.addOrder("a table");
        var requests = IntStream.range(0, PARCELS)
                .mapToObj(i -> (i % 2 == 0 ? first : second).pack(order, "?time=20ms" + query))
                .toList();
        expect(requests.stream().allMatch(request -> request.join().statusCode() == 200), "answers of 200");
        return database.parcels(order);
    }

    private void search() {
        say("%n%d searches of Alice, who has %d in a minute, at the instances in turn", SEARCHES, SEARCHES_ADMITTED);
        List<HttpResponse<String>> answers = IntStream.range(0, SEARCHES)
                .mapToObj(i -> (i % 2 == 0 ? first : second).get("/search?user=alice&words=table"))
                .toList();
        List<Integer> statuses = answers.stream().map(HttpResponse::statusCode).toList();
        say("  %s", statuses.stream().map(String::valueOf).collect(Collectors.joining(" ")));
        Stream.of("Retry-After", "RateLimit", "RateLimit-Policy").forEach(field -> {
            Optional<String> value = answers.get(SEARCHES - 1).headers().firstValue(field);
            say("  %s: %s", field, value.orElse("none"));
            expect(value.isPresent(), field);
        });
        expect(
                statuses.stream().filter(status -> status == 200).count() == SEARCHES_ADMITTED
                        && statuses.stream().filter(status -> status == 429).count() == SEARCHES - SEARCHES_ADMITTED,
                "searches refused by both instances together");
    }

    private void endWhilePacking() throws InterruptedException {
        say("%nA parcel takes eight seconds in %s, and %s wants the same order", second.name(), first.name());
        long order = database.addOrder("a bed");
        var packing = second.pack(order, "?time=8s");
        awaitInView(order, packing, "holders", second);
        var waiting = first.pack(order, "");
        awaitInView(order, packing, "waiters", first);
        String health = first.get("/actuator/health").body();
        String metrics = first.get("/actuator/prometheus").body();
        JsonNode session = new JsonMapper().readTree(health).path("components").path("interlock");
        say("  /actuator/health: %s", session);
        metrics.lines()
                .filter(line -> line.startsWith("interlock_lock_wait_seconds_count"))
                .forEach(line -> say("  /actuator/prometheus: %s", line));
        expect(session.path("status").asString().equals("UP"), "health");
        expect(metrics.contains("interlock_lock_wait_seconds_count"), "metrics");
        second.terminate();
        say("  SIGTERM to %s", second.name());
        HttpResponse<String> last = packing.join();
        say("  %s still answers %d: %s", second.name(), last.statusCode(), last.body());
        long nanos = System.nanoTime();
        HttpResponse<String> next = waiting.join();
        say(
                "  %s answers %d, %d ms later: %s",
                first.name(),
                next.statusCode(),
                Duration.ofNanos(System.nanoTime() - nanos).toMillis(),
                next.body());
        int exitCode = second.awaitEnd();
        say("  %s ends with %d", second.name(), exitCode);
        expect(last.statusCode() == 200 && exitCode == ENDED_BY_SIGTERM, "a request that ended before its instance");
        expect(next.statusCode() == 200, "the lock given back by an instance that ended");
    }

    /** Waits until the endpoint of the first instance shows a thread of an instance, as long as a parcel is packed. */
    private void awaitInView(long order, CompletableFuture<?> packing, String role, Instance instance)
            throws InterruptedException {
        String path = "/actuator/interlock/order:" + order;
        while (!packing.isDone()) {
            HttpResponse<String> view = first.get(path);
            if (view.statusCode() == 200) {
                JsonNode thread = new JsonMapper()
                        .readTree(view.body())
                        .path(0)
                        .path(role)
                        .path(0);
                if (thread.path("sessionName").asString("").equals(instance.name())) {
                    say("  %s, %s: %s of %s", path, role, thread.path("thread").asString(), instance.name());
                    return;
                }
            }
            Thread.sleep(20);
        }
        expect(false, instance.name() + " at " + path);
    }

    private void watchInvoices() throws InterruptedException {
        say("%nInvoices, for which each instance is scheduled every two seconds");
        List<OrderDatabase.InvoiceRun> runs = database.invoiceRuns();
        long deadlineNanos = System.nanoTime() + PATIENCE.toNanos();
        while (runs.size() < RUNS && System.nanoTime() - deadlineNanos < 0) {
            Thread.sleep(100);
            runs = database.invoiceRuns();
        }
        for (OrderDatabase.InvoiceRun run : runs) {
            LocalTime began = LocalTime.ofInstant(run.began(), ZoneId.systemDefault());
            say("  %s by %s", began.truncatedTo(ChronoUnit.MILLIS), run.instance());
        }
        expect(runs.size() >= RUNS, "runs of the invoices");
        expect(OrderDatabase.InvoiceRun.isOncePerPeriod(runs), "one run of the invoices in two seconds");
    }
}
