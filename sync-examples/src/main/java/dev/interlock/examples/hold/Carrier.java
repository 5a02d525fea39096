package dev.interlock.examples.hold;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * The service of a carrier, which takes its time: {@code POST /parcels/{order}?token=…}. It notices when two parcels of
 * one order are in its hands at once, and refuses a fencing token that is smaller than one that it has seen.
 */
final class Carrier implements AutoCloseable {
    private static final Duration WORK = Duration.ofMillis(20);
    private static final int BACKLOG = 500;

    private final ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
    private final HttpServer server = serve("/parcels/", scheduler, this::send);
    private final Map<String, Integer> inHand = new HashMap<>();
    private final Map<String, Long> lastTokens = new HashMap<>();
    private int overlaps;
    private int refused;

    static HttpServer serve(String path, Executor executor, HttpHandler handler) {
        try {
            var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
            HttpServer server = HttpServer.create(address, BACKLOG);
            server.setExecutor(executor);
            server.createContext(path, handler);
            server.start();
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void answer(HttpExchange exchange, int status, String text) {
        byte[] body = text.getBytes(UTF_8);
        try (exchange) {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        } catch (IOException e) {
            System.err.println("A client is gone: " + e);
        }
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort() + "/parcels/";
    }

    private synchronized void send(HttpExchange exchange) {
        String order = exchange.getRequestURI().getPath().substring("/parcels/".length());
        long token = Long.parseLong(exchange.getRequestURI().getQuery().substring("token=".length()));
        if (token < lastTokens.getOrDefault(order, 0L)) {
            refused++;
            answer(exchange, 409, "order " + order + " is in later hands");
            return;
        }
        lastTokens.put(order, token);
        if (inHand.merge(order, 1, Integer::sum) > 1) {
            overlaps++;
        }
        scheduler.schedule(() -> sent(exchange, order), WORK.toMillis(), TimeUnit.MILLISECONDS);
    }

    private synchronized void sent(HttpExchange exchange, String order) {
        inHand.merge(order, -1, Integer::sum);
        answer(exchange, 200, "order " + order + " is on its way");
    }

    /** Returns how many parcels it was given while it had another one of the same order. */
    synchronized int overlaps() {
        return overlaps;
    }

    /** Returns how many fencing tokens it has refused. */
    synchronized int refused() {
        return refused;
    }

    @Override
    public void close() {
        server.stop(0);
        scheduler.shutdownNow();
    }
}
