package dev.interlock.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisCluster;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** A limit for each of many users, in a cluster. */
@Tag("proof")
class RateLimiterClusterTest {
    private static final int USERS = 1_000;
    private static final Duration MONTH = Duration.ofDays(30);

    @Test
    void usersAreSpreadOverAllMastersAndFollowUpdates() {
        try (RedisCluster cluster = RedisCluster.launch()) {
            Config config = new Config();
            config.useClusterServers().addNodeAddress(cluster.urls().toArray(String[]::new));
            RedissonClient client = Redisson.create(config);
            try (Interlock session = Interlock.using(client)) {
                RateLimiter limiter = session.rateLimiter("calls", RateLimit.fixedWindow(1, MONTH));
                for (int user = 0; user < USERS; user++) {
                    assertThat(limiter.forKey("user-" + user).tryAcquire()).isTrue();
                    assertThat(limiter.forKey("user-" + user).tryAcquire()).isFalse();
                }
                assertThat(usersByMaster(cluster))
                        .hasSize(3)
                        .allSatisfy((master, users) -> assertThat(users).isGreaterThan(USERS / 6));
                limiter.update(RateLimit.fixedWindow(2, MONTH));
                for (int user = 0; user < USERS; user += 10) {
                    assertThat(limiter.forKey("user-" + user).tryAcquire()).isTrue();
                    assertThat(limiter.forKey("user-" + user).tryAcquire()).isFalse();
                }
            } finally {
                client.shutdown();
            }
        }
    }

    private static Map<RedisServer, Long> usersByMaster(RedisCluster cluster) {
        Map<RedisServer, Long> users = new HashMap<>();
        for (RedisServer node : cluster.nodes()) {
            if (String.valueOf(node.command("INFO", "replication")).contains("role:master")) {
                users.put(
                        node,
                        node.keys().stream()
                                .filter(key -> key.contains(":rate:user-"))
                                .count());
            }
        }
        return users;
    }
}
