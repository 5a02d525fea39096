package dev.interlock.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.RespConnection;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A session is called the same in the log, in Redis' list of clients, and by itself. */
class SessionNameTest {
    private static final Duration PATIENCE = Duration.ofSeconds(20);
    private static final String SECRET = "sesame";

    @Test
    void aNameIsWhereOneLooksForIt() throws IOException {
        try (RedisServer server = RedisServer.launch()) {
            server.command("CONFIG", "SET", "requirepass", SECRET);
            String address = server.host() + ":" + server.port();
            try (Lines lines = new Lines()) {
                Interlock session = Interlock.builder()
                        .uri("redis://:" + SECRET + "@" + address)
                        .lease(Duration.ofSeconds(12))
                        .sessionName("orders-7f9")
                        .open();
                assertThat(session.sessionName()).isEqualTo("orders-7f9");
                URI admin = URI.create("redis://default:" + SECRET + "@" + address);
                try (RespConnection connection = RespConnection.open(admin, PATIENCE)) {
                    assertThat(String.valueOf(connection.call("CLIENT", "LIST")))
                            .contains("name=orders-7f9 ");
                }
                assertThat(lines.at(Level.INFO, "is open"))
                        .singleElement()
                        .asString()
                        .contains("orders-7f9", session.id(), "12000 ms", address)
                        .doesNotContain(SECRET);
                session.close();
                session.close();
                await("said once")
                        .atMost(PATIENCE)
                        .until(() -> !lines.at(Level.INFO, "is closed").isEmpty());
                assertThat(lines.at(Level.INFO, "is closed"))
                        .singleElement()
                        .asString()
                        .contains("orders-7f9", session.id());
                assertThat(lines.warnings(session)).isEmpty();
            }
        }
    }

    /** The address of a user's client may have credentials in it. */
    @Test
    void theLogTellsNoPasswordOfAClient() {
        try (RedisServer server = RedisServer.launch()) {
            server.command("CONFIG", "SET", "requirepass", SECRET);
            Config config = new Config();
            config.useSingleServer()
                    .setAddress("redis://default:" + SECRET + "@" + server.host() + ":" + server.port());
            RedissonClient client = Redisson.create(config);
            try (Lines lines = new Lines();
                    Interlock session = Interlock.using(client)) {
                assertThat(lines.at(Level.INFO, "is open"))
                        .singleElement()
                        .asString()
                        .contains(session.sessionName(), Integer.toString(server.port()))
                        .doesNotContain(SECRET);
            } finally {
                client.shutdown();
            }
        }
    }

    @Test
    void byDefaultItIsTheHostAndTheProcess() {
        try (Interlock session = Interlock.connect(RedisServer.provided().url())) {
            assertThat(session.sessionName())
                    .matches("[!-~]{1,80}-" + ProcessHandle.current().pid());
        }
    }
}
