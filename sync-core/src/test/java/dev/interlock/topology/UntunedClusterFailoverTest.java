package dev.interlock.topology;

import dev.interlock.testing.Topology;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.redisson.config.Config;

/** The same with clients and sessions on default settings. */
@Tag("proof")
class UntunedClusterFailoverTest extends ClusterFailoverTest {
    @Override
    void connect(Config config, Topology to) {
        config.useClusterServers().addNodeAddress(to.urls().toArray(String[]::new));
    }

    @Override
    Duration commandTimeout() {
        return Duration.ofSeconds(3);
    }
}
