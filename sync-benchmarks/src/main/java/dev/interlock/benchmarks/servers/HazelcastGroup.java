package dev.interlock.benchmarks.servers;

import com.hazelcast.config.Config;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Three Hazelcast members in a child JVM, which together are a CP group. */
final class HazelcastGroup {

    private static final int MEMBERS = 3;
    private static final String LOOPBACK = "127.0.0.1";
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
        List<Integer> ports =
                Stream.generate(Daemon::freePort).distinct().limit(MEMBERS).toList();
        List<HazelcastInstance> members = ports.stream()
                .map(port -> Hazelcast.newHazelcastInstance(config(cluster, port, ports)))
                .toList();
        for (HazelcastInstance member : members) {
            if (!member.getCPSubsystem()
                    .getCPSubsystemManagementService()
                    .awaitUntilDiscoveryCompleted(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                throw new IllegalStateException("The CP members haven't found each other");
            }
        }
        String hosts = ports.stream().map(HazelcastGroup::host).collect(Collectors.joining(","));
        ChildConsole.say("members " + cluster + "@" + hosts + " "
                + members.get(0).getCluster().getLocalMember().getVersion());
        ChildConsole.readCommand(); // never comes: the JVM is ended from outside
    }

    private static Config config(String cluster, int port, List<Integer> ports) {
        var config = new Config()
                .setClusterName(cluster)
                .setProperty("hazelcast.logging.type", "slf4j")
                .setProperty("hazelcast.phone.home.enabled", "false")
                .setProperty("hazelcast.socket.bind.any", "false")
                // All who may come are named, so that nobody needs time to appear.
                .setProperty("hazelcast.wait.seconds.before.join", "0");
        config.getCPSubsystemConfig().setCPMemberCount(MEMBERS);
        var network = config.getNetworkConfig().setPort(port).setPortAutoIncrement(false);
        network.getInterfaces().setEnabled(true).addInterface(LOOPBACK);
        var join = network.getJoin();
        join.getAutoDetectionConfig().setEnabled(false);
        join.getMulticastConfig().setEnabled(false);
        join.getTcpIpConfig()
                .setEnabled(true)
                .setMembers(ports.stream().map(HazelcastGroup::host).toList());
        return config;
    }

    private static String host(int port) {
        return LOOPBACK + ":" + port;
    }
}
