package dev.interlock.topology;

import dev.interlock.testing.SentinelSet;
import dev.interlock.testing.Topology;
import org.redisson.config.Config;

/** A master dies, and the sentinels have one of its two replicas take its place. */
class SentinelFailoverTest extends FailoverContract {
    @Override
    Topology launch() {
        return SentinelSet.launch();
    }

    @Override
    void connect(Config config, Topology to) {
        Clients.tuned(config.useSentinelServers())
                .setMasterName(SentinelSet.MASTER)
                .setScanInterval(250)
                .addSentinelAddress(to.urls().toArray(String[]::new));
    }
}
