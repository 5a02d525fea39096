package dev.interlock.examples.hold;

import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/**
 * Two instances of an HTTP service whose requests hold an order while a carrier is called, without a thread each.
 *
 * <p>{@code mvn -q -Pdemo -Dexample=hold.Shipping} sends 200 requests for 20 orders at once, half of them to each
 * instance: first such as hold nothing, then such as hold their order. The carrier tells how often it was given a
 * parcel of an order while it had another one.
 */
public final class Shipping {
    private static final int INSTANCES = 2;
    private static final int REQUESTS = 200;
    private static final int ORDERS = 20;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private Shipping() {}

    /** What an instance says at its end: of requests, threads that dealt with them, and all threads of the JVM. */
    private record Used(int mostInProgress, int threads, int allThreads) {
        static Used parse(String line) {
            String[] words = line.split(" ", 4);
            return new Used(Integer.parseInt(words[1]), Integer.parseInt(words[2]), Integer.parseInt(words[3]));
        }
    }

    /** How many requests were answered well, and how often the carrier had two parcels of an order meanwhile. */
    private record Round(int answered, int overlaps) {
        static Round play(String what, Carrier carrier, List<String> urls, String query) {
            int before = carrier.overlaps();
            Round round = new Round(sendAll(urls, query), carrier.overlaps() - before);
            System.out.printf(
                    "%-14s %d requests answered, %d parcels overlapped%n", what, round.answered, round.overlaps);
            return round;
        }
    }

    /** Sends the requests; the exit code is 0 if the carrier never had an order from two requests that held it. */
    public static void main(String[] args) {
        Round without;
        Round with;
        int refused;
        List<Used> used;
        try (RedisServer redis = RedisServer.launch();
                Carrier carrier = new Carrier();
                Fleet instances = Fleet.start(INSTANCES, i -> instance(redis.url(), carrier.url()))) {
            List<String> urls = instances.awaitAll("READY ", PATIENCE).stream()
                    .map(line -> "http://127.0.0.1:" + line.substring("READY ".length()) + "/orders/")
                    .toList();
            without = Round.play("without holds:", carrier, urls, "?held=false");
            with = Round.play("with holds:", carrier, urls, "");
            refused = carrier.refused();
            instances.send("END");
            used = instances.awaitAll("USED ", PATIENCE).stream()
                    .map(Used::parse)
                    .toList();
        }
        used.forEach(one -> System.out.printf(
                "an instance had up to %d requests at once on %d threads, of %d in its JVM%n",
                one.mostInProgress, one.threads, one.allThreads));
        boolean isOk = with.answered == REQUESTS && with.overlaps == 0 && refused == 0 && without.overlaps > 0;
        System.out.printf(
                "SHIPPING %s: %d of %d requests answered, %s ever in two hands, %d threads an instance%n",
                isOk ? "OK" : "FAILED",
                with.answered,
                REQUESTS,
                with.overlaps == 0 ? "no order was" : with.overlaps + " orders were",
                used.stream().mapToInt(Used::threads).max().orElseThrow());
        System.exit(isOk ? 0 : 1);
    }

    private static ChildJvm.Builder instance(String redisUrl, String carrierUrl) {
        // Where the common pool has one thread, the JDK's HTTP client begins a thread for each answer instead.
        return ChildJvm.of(ShippingService.class)
                .options("-Djava.util.concurrent.ForkJoinPool.common.parallelism=2")
                .arguments(redisUrl, carrierUrl);
    }

    /** Sends all requests at once, and returns how many were answered well. */
    private static int sendAll(List<String> urls, String query) {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        List<CompletableFuture<HttpResponse<String>>> sent = IntStream.range(0, REQUESTS)
                .mapToObj(i -> urls.get(i % INSTANCES) + i / INSTANCES % ORDERS + "/ship" + query)
                .map(url -> HttpRequest.newBuilder(URI.create(url))
                        .POST(BodyPublishers.noBody())
                        .timeout(PATIENCE)
                        .build())
                .map(request -> client.sendAsync(request, BodyHandlers.ofString()))
                .toList();
        return (int) sent.stream()
                .map(CompletableFuture::join)
                .filter(response -> response.statusCode() == 200)
                .count();
    }
}
