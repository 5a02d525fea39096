package dev.interlock.benchmarks.servers;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Three Hazelcast members in a child JVM, which together are a CP group. */
final class HazelcastGroup {

    private static final int MEMBERS = 3;
    private static final int FIRST_PORT = 5701;
    private static final int PORTS = 100;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private HazelcastGroup() {}

    static Server start() {
        ChildJvm child = ChildJvm.of(HazelcastGroup.class).options("-Xmx512m").start();
        try {
            String[] words = child.await("members ", PATIENCE).split(" ", -1);
            return new Server.Running(words[1], Map.entry("Hazelcast members", words[2]), child::close);
        } catch (AssertionError e) {
            child.close();
            throw new AbsentException("Hazelcast didn't start", e);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        String cluster = "interlock-" + UUID.randomUUID();
        var members = new ArrayList<HazelcastInstance>();
        for (int i = 0; i < MEMBERS; i++) {
            members.add(Hazelcast.newHazelcastInstance(config(cluster)));
        }
        for (HazelcastInstance member : members) {
            if (!member.getCPSubsystem()
                    .getCPSubsystemManagementService()
                    .awaitUntilDiscoveryCompleted(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("The CP members haven't found each other");
            }
        }
        String hosts = members.stream()
                .map(member -> member.getCluster().getLocalMember().getAddress())
                .map(address -> address.getHost() + ":" + address.getPort())
                .collect(Collectors.joining(","));
        ChildConsole.say("members " + cluster + "@" + hosts + " "
                + members.get(0).getCluster().getLocalMember().getVersion());
        ChildConsole.readCommand(); // never comes: the JVM is ended from outside
    }

    private static Config config(String cluster) {
        var config = new Config()
                .setClusterName(cluster)
                .setProperty("hazelcast.logging.type", "slf4j")
                .setProperty("hazelcast.phone.home.enabled", "false")
                .setProperty("hazelcast.socket.bind.any", "false");
        config.getCPSubsystemConfig().setCPMemberCount(MEMBERS);
        var network = config.getNetworkConfig().setPort(FIRST_PORT).setPortCount(PORTS);
        network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
        var join = network.getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        // Without ports it tries three; others of that name can't be there.
        join.getTcpIpConfig().setEnabled(true).addMember("127.0.0.1");
        return config;
    }
}
