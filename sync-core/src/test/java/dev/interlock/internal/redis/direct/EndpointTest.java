package dev.interlock.internal.redis.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Where a server is found. */
class EndpointTest {
    private static final RedisServer SERVER = RedisServer.provided();

    /** It may go on answering: only a record of DNS has changed. */
    @Test
    void aServerIsLeftOnceItsNameStandsForAnother() throws IOException {
        Config config = new Config();
        config.setLazyInitialization(true);
        config.useSingleServer().setAddress("redis://localhost:" + SERVER.port());
        RedissonClient client = Redisson.create(config);
        try (Socket socket = new Socket(SERVER.host(), SERVER.port())) {
            Endpoint endpoint = new Endpoint(client, "resolving");
            Wire present = endpoint.connect();
            Wire former = new Wire(socket, socket, new InetSocketAddress("127.0.0.77", SERVER.port()));
            await().atMost(Duration.ofSeconds(30)).until(() -> endpoint.hasMovedFrom(former));
            assertThat(endpoint.hasMovedFrom(present)).isFalse();
            present.close();
        } finally {
            client.shutdown();
        }
    }
}
