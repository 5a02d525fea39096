package dev.interlock.examples.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.ops.NameView;
import dev.interlock.testing.RedisServer;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/** With virtual threads, an instance has as many waiting requests as it may have connections. */
@EnabledForJreRange(min = JRE.JAVA_21)
class CrowdIT {

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int REQUESTS = 10_000;

    /**
     * While another session holds the order, all requests get as far as its lock, which they couldn't if a wait kept a
     * thread of the system; then all are answered.
     */
    @Test
    @Tag("proof")
    void tenThousandRequestsWaitForOneLock() {
        String redisUrl = RedisServer.provided().url();
        try (var database = new OrderDatabase();
                Interlock holder = Interlock.builder()
                        .uri(redisUrl)
                        .namespace(database.name())
                        .open();
                Instance instance = Instance.start("crowded", 0, redisUrl, database, "--orders.wait=10m")) {
            instance.awaitServing();
            long order = database.addOrder("a cinema");
            String name = "order:" + order;
            holder.lock(name).lock();
            List<CompletableFuture<HttpResponse<String>>> requests = IntStream.range(0, REQUESTS)
                    .mapToObj(i -> instance.pack(order, ""))
                    .toList();
            Awaitility.await()
                    .atMost(PATIENCE)
                    .pollInterval(Duration.ofSeconds(1))
                    .untilAsserted(() ->
                            assertThat(waiters(holder.operator().inspect(name))).isEqualTo(REQUESTS));
            holder.lock(name).unlock();
            assertThat(requests)
                    .allSatisfy(
                            request -> assertThat(request.join().statusCode()).isEqualTo(200));
            assertThat(database.parcels(order)).isEqualTo(REQUESTS);
        }
    }

    private static int waiters(List<NameView> names) {
        return names.stream().mapToInt(name -> name.waiters().size()).sum();
    }
}
