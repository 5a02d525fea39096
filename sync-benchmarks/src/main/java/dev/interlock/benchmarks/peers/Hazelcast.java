package dev.interlock.benchmarks.peers;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.core.HazelcastInstance;
import java.util.List;
import java.util.concurrent.locks.Lock;

/** Fenced locks of Hazelcast's CP subsystem, through its client. */
public final class Hazelcast implements AutoCloseable {

    private final HazelcastInstance client;

    /**
     * Connects.
     *
     * @param address {@code cluster@host:port,host:port,...}
     */
    public Hazelcast(String address) {
        int at = address.indexOf('@');
        var config = new ClientConfig()
                .setClusterName(address.substring(0, at))
                .setProperty("hazelcast.logging.type", "slf4j");
        config.getNetworkConfig().setAddresses(List.of(address.substring(at + 1).split(",", -1)));
        client = HazelcastClient.newHazelcastClient(config);
    }

    /** The lock of a name. */
    public Lock lock(String name) {
        // What follows an "@" would name the CP group.
        return client.getCPSubsystem().getLock(name.replace('@', '-'));
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
