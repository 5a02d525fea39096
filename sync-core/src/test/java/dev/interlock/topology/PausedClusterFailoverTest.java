package dev.interlock.topology;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Topology;
import org.junit.jupiter.api.Tag;

/**
 * The same with a master that is stopped, and goes on when another one has taken its place: what it still says must not
 * matter.
 */
@Tag("proof")
class PausedClusterFailoverTest extends ClusterFailoverTest {
    @Override
    void fail(Topology where, RedisServer master) {
        where.pause(master);
    }

    @Override
    void recover() {
        topology().heal();
    }

    // The old master is a replica by then.
    @Override
    void onlyAShardWithoutReplicasWaitsForNone() {}
}
