package dev.interlock.security;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedReentrantLock;
import dev.interlock.Interlock;
import dev.interlock.Transport;
import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Servers that don't have all commands, and proxies that end connections which nobody uses, are enough. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RestrictedServerTest {
    private static final List<String> MISSING = List.of("CLIENT", "CONFIG", "HELLO");
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    @ParameterizedTest
    @EnumSource
    void whatServersOftenForbidIsNotNeeded(Transport transport) {
        String configuration = MISSING.stream()
                .map(command -> "rename-command " + command + " \"\"")
                .collect(Collectors.joining("\n"));
        try (RedisServer server = RedisServer.launchConfigured(configuration)) {
            server.command("ACL", "SETUSER", "default", "-info");
            Config config = new Config();
            config.useSingleServer().setAddress(server.url());
            RedissonClient client = Redisson.create(config);
            try (Tour tour = new Tour(
                    server,
                    one -> one.client(client).transport(transport),
                    other -> other.client(client).transport(transport))) {
                tour.all(client);
            } finally {
                client.shutdown();
            }
        }
    }

    /** As load balancers do after a minute or so. What is held and waited for stays, and the next call works. */
    @ParameterizedTest
    @EnumSource
    void idleConnectionsMayBeCut(Transport transport) {
        try (RedisServer server = RedisServer.launch();
                FaultProxy proxy = FaultProxy.to(server);
                Interlock session = Interlock.builder()
                        .uri(proxy.url())
                        .transport(transport)
                        .open();
                Interlock other = Interlock.connect(server.url())) {
            DistributedReentrantLock held = session.lock("held");
            held.lock();
            for (int i = 0; i < 3; i++) {
                proxy.cut();
                assertThat(session.lock("another").tryLock()).isTrue();
                session.lock("another").unlock();
            }
            held.assertHeld();
            assertThat(other.lock("held").tryLock()).isFalse();
            held.unlock();
            Awaitility.await("released")
                    .atMost(PATIENCE)
                    .pollInSameThread()
                    .until(() -> other.lock("held").tryLock());
            other.lock("held").unlock();
        }
    }
}
