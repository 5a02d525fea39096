package dev.interlock.examples.hold;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.interlock.Hold;
import dev.interlock.Holds;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An instance of a service that ships orders by {@code POST /orders/{id}/ship}. A request has the hold of its order
 * from before the carrier is called until it has answered, and waits for both without a thread.
 */
final class ShippingService {
    private static final int THREADS = 3;
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Holds holds;
    private final HttpClient client;
    private final Executor pool;
    private final String carrier;
    private final AtomicInteger inProgress = new AtomicInteger();
    private final AtomicInteger mostInProgress = new AtomicInteger();
    private final Set<Thread> used = ConcurrentHashMap.newKeySet();

    private ShippingService(Holds holds, Executor pool, String carrier) {
        this.holds = holds;
        this.pool = pool;
        this.client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .executor(pool)
                .build();
        this.carrier = carrier;
    }

    /** Serves until it is told to end: with the Redis and the carrier that the arguments name. */
    public static void main(String[] args) throws InterruptedException {
        ExecutorService pool = Executors.newFixedThreadPool(THREADS);
        try (Interlock interlock =
                Interlock.builder().uri(args[0]).holdExecutor(pool).open()) {
            var service = new ShippingService(interlock.holds(), pool, args[1]);
            HttpServer server = Carrier.serve("/orders/", pool, service::receive);
            ChildConsole.say("READY " + server.getAddress().getPort());
            ChildConsole.readCommand();
            server.stop(0);
            ChildConsole.say("USED " + service.mostInProgress + " " + service.used.size() + " "
                    + ManagementFactory.getThreadMXBean().getPeakThreadCount());
        }
        pool.shutdown();
    }

    private void receive(HttpExchange exchange) {
        String order = exchange.getRequestURI().getPath().split("/", 4)[2];
        boolean isHeld = !"held=false".equals(exchange.getRequestURI().getQuery());
        CompletableFuture<String> shipped = isHeld ? counted(ship(order)) : send(order, 0);
        shipped.whenComplete((receipt, failure) -> {
            used.add(Thread.currentThread());
            Carrier.answer(exchange, failure == null ? 200 : 503, failure == null ? receipt : failure.toString());
        });
    }

    private <T> CompletableFuture<T> counted(CompletableFuture<T> request) {
        used.add(Thread.currentThread());
        mostInProgress.accumulateAndGet(inProgress.incrementAndGet(), Math::max);
        return request.whenComplete((receipt, failure) -> inProgress.decrementAndGet());
    }

    private CompletableFuture<String> ship(String order) {
        return holds.as("shipping of order " + order)
                .tryAcquire("order:" + order, PATIENCE)
                .thenCompose(hold -> hold.map(held -> ship(order, held))
                        .orElseGet(() -> CompletableFuture.failedFuture(new IllegalStateException("busy"))));
    }

    private CompletableFuture<String> ship(String order, Hold hold) {
        used.add(Thread.currentThread());
        return CompletableFuture.completedFuture(hold)
                .thenCompose(held -> send(order, held.fencingToken()))
                .whenComplete((receipt, failure) -> hold.close());
    }

    private CompletableFuture<String> send(String order, long token) {
        var request = HttpRequest.newBuilder(URI.create(carrier + order + "?token=" + token))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        // In the pool again: the client completes its futures elsewhere.
        return client.sendAsync(request, BodyHandlers.ofString()).thenApplyAsync(ShippingService::receipt, pool);
    }

    private static String receipt(HttpResponse<String> response) {
        if (response.statusCode() != 200) {
            throw new IllegalStateException(response.body());
        }
        return response.body();
    }
}
