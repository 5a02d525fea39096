package dev.interlock.examples.spring;

import dev.interlock.testing.ChildJvm;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** An instance of the service, in a JVM of its own, and a client of it. */
final class Instance implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** Each connection of Tomcat's takes about 100 kB, and there may be 10,000. */
    private static final String HEAP = "-Xmx3g";

    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private final String name;
    private final ChildJvm jvm;
    private String url = "";

    private Instance(String name, ChildJvm jvm) {
        this.name = name;
        this.jvm = jvm;
    }

    /**
     * Starts an instance; doesn't wait until it serves.
     *
     * @param port 0 for any that is free
     * @param settings further ones, such as {@code --orders.wait=1m}
     */
    static Instance start(String name, int port, String redisUrl, OrderDatabase database, String... settings) {
        var arguments = new ArrayList<>(List.of(
                "--server.port=" + port,
                "--interlock.uri=" + redisUrl,
                "--interlock.namespace=" + database.name(),
                "--interlock.session-name=" + name,
                "--interlock.command-timeout=10s", // for instances that start side by side
                "--spring.datasource.url=" + database.url()));
        arguments.addAll(List.of(settings));
        return new Instance(
                name,
                ChildJvm.of(OrderService.class)
                        .options(HEAP, "-XX:TieredStopAtLevel=1")
                        .arguments(arguments.toArray(String[]::new))
                        .start());
    }

    Instance awaitServing() {
        url = jvm.await("SERVING at ", PATIENCE).substring("SERVING at ".length());
        return this;
    }

    String name() {
        return name;
    }

    String url() {
        return url;
    }

    long pid() {
        return jvm.pid();
    }

    HttpResponse<String> get(String path) {
        return send(HttpRequest.newBuilder(URI.create(url + path)).timeout(PATIENCE))
                .join();
    }

    /** Asks for a parcel of an order; query is empty or begins with a question mark. */
    CompletableFuture<HttpResponse<String>> pack(long order, String query) {
        return send(HttpRequest.newBuilder(URI.create(url + "/orders/" + order + "/parcels" + query))
                .POST(BodyPublishers.noBody()));
    }

    private static CompletableFuture<HttpResponse<String>> send(HttpRequest.Builder request) {
        return CLIENT.sendAsync(request.build(), BodyHandlers.ofString());
    }

    /** Sends SIGTERM. */
    void terminate() {
        jvm.terminate();
    }

    int awaitEnd() {
        return jvm.waitFor(PATIENCE);
    }

    @Override
    public void close() {
        jvm.close();
    }
}
