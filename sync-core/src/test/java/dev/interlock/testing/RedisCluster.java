package dev.interlock.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A Redis Cluster of three masters with a replica each. A dead master is replaced after some 3 s.
 *
 * <pre>{@code
 * try (RedisCluster cluster = RedisCluster.launch()) {
 *     cluster.kill(cluster.masterOf("stock"));
 *     cluster.heal();
 * }
 * }</pre>
 */
public final class RedisCluster extends Topology {
    private static final int MASTERS = 3;
    private static final int SLOTS = 16_384;
    private static final String[] ARGUMENTS = {
        "--cluster-enabled", "yes",
        "--cluster-announce-ip", Loopback.HOST,
        "--cluster-node-timeout", "2000",
        "--cluster-replica-validity-factor", "0",
        "--repl-diskless-sync-delay", "0"
    };

    private final List<RedisServer> nodes = new ArrayList<>();

    private RedisCluster() {}

    /** Starts a cluster and returns when it's ready. */
    public static RedisCluster launch() {
        return launch(RedisServer::launch, 2 * MASTERS);
    }

    /** As {@link #launch}, of the oldest version that we support. */
    public static RedisCluster launchOldest() {
        return launch(RedisServer::launchOldest, 2 * MASTERS);
    }

    /** Starts a cluster of three masters without replicas. */
    public static RedisCluster launchMasters() {
        return launch(RedisServer::launch, MASTERS);
    }

    private static RedisCluster launch(Function<String[], RedisServer> launcher, int nodes) {
        RedisCluster cluster = new RedisCluster();
        try {
            for (int i = 0; i < nodes; i++) {
                cluster.nodes.add(launcher.apply(ARGUMENTS));
            }
            cluster.form();
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    private void form() {
        for (int i = 0; i < MASTERS; i++) {
            Stream<String> slots = IntStream.range(SLOTS * i / MASTERS, SLOTS * (i + 1) / MASTERS)
                    .mapToObj(Integer::toString);
            nodes.get(i)
                    .command(Stream.concat(Stream.of("CLUSTER", "ADDSLOTS"), slots)
                            .toArray(String[]::new));
        }
        for (int i = 0; i < nodes.size(); i++) {
            nodes.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
        }
        for (RedisServer one : nodes) {
            for (RedisServer other : nodes) {
                if (one != other) {
                    one.command("CLUSTER", "MEET", other.host(), Integer.toString(other.port()));
                }
            }
        }
        for (int i = 0; i < nodes.size() - MASTERS; i++) {
            String master = String.valueOf(nodes.get(i).command("CLUSTER", "MYID"));
            RedisServer replica = nodes.get(MASTERS + i);
            await("acquainted", () -> "OK".equals(replica.command("CLUSTER", "REPLICATE", master)));
        }
        awaitReady();
    }

    @Override
    public List<RedisServer> nodes() {
        return nodes;
    }

    @Override
    public List<String> urls() {
        return nodes.stream().map(RedisServer::url).toList();
    }

    @Override
    public RedisServer masterOf(String key) {
        RedisServer anybody = running().get(0);
        long slot = (Long) Objects.requireNonNull(anybody.command("CLUSTER", "KEYSLOT", key));
        for (Object range : (List<?>) Objects.requireNonNull(anybody.command("CLUSTER", "SLOTS"))) {
            List<?> fields = (List<?>) range;
            if ((Long) fields.get(0) <= slot && slot <= (Long) fields.get(1)) {
                List<?> master = (List<?>) fields.get(2);
                return at(((Long) master.get(1)).intValue());
            }
        }
        throw new IllegalStateException("nobody owns slot " + slot);
    }

    /** Moves the slot of a key, with all that is in it, to another master. */
    public void moveSlotOf(String key) {
        beginMove(key).end();
    }

    /** Begins to move the slot of a key to another master. Its keys stay until they are moved. */
    public Move beginMove(String key) {
        RedisServer from = masterOf(key);
        RedisServer to = nodes.stream()
                .limit(MASTERS)
                .filter(node -> node != from)
                .findFirst()
                .orElseThrow();
        return new Move(key, from, to);
    }

    /** A slot on its way from one master to another. */
    public final class Move {
        private final String key;
        private final RedisServer from;
        private final RedisServer to;
        private final String slot;
        private final String target;

        private Move(String key, RedisServer from, RedisServer to) {
            this.key = key;
            this.from = from;
            this.to = to;
            this.slot = String.valueOf(from.command("CLUSTER", "KEYSLOT", key));
            this.target = String.valueOf(to.command("CLUSTER", "MYID"));
            to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", String.valueOf(from.command("CLUSTER", "MYID")));
            from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", target);
        }

        /** Moves keys, of those that haven't been moved. */
        public void move(Predicate<String> which) {
            String all = Integer.toString(Integer.MAX_VALUE);
            if (from.command("CLUSTER", "GETKEYSINSLOT", slot, all) instanceof List<?> keys) {
                keys.stream()
                        .map(String::valueOf)
                        .filter(which)
                        .forEach(moved ->
                                from.command("MIGRATE", to.host(), Integer.toString(to.port()), moved, "0", "5000"));
            }
        }

        /** Moves the rest, and has everybody know. */
        public void end() {
            while (from.command("CLUSTER", "COUNTKEYSINSLOT", slot) instanceof Long left && left > 0) {
                move(any -> true);
            }
            for (RedisServer node : List.of(to, from)) {
                node.command("CLUSTER", "SETSLOT", slot, "NODE", target);
            }
            await("slot moved", () -> masterOf(key) == to);
        }
    }

    /** How many messages of its clients the nodes have sent each other. */
    public long published() {
        return running().stream()
                .mapToLong(node -> String.valueOf(node.command("CLUSTER", "INFO"))
                        .lines()
                        .filter(line -> line.startsWith("cluster_stats_messages_publish"))
                        .filter(line -> line.contains("_sent:"))
                        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                        .sum())
                .sum();
    }

    @Override
    boolean isReady() {
        return running().stream().allMatch(this::isReady);
    }

    private boolean isReady(RedisServer node) {
        if (!String.valueOf(node.command("CLUSTER", "INFO")).contains("cluster_state:ok")) {
            return false;
        }
        List<String> lines = String.valueOf(node.command("CLUSTER", "NODES"))
                .lines()
                .filter(line -> !line.contains("fail") && line.contains(" connected"))
                .toList();
        long replicas = lines.stream().filter(line -> line.contains("slave")).count();
        long masters = lines.stream()
                .filter(line -> line.contains("master") && line.split(" ").length > 8)
                .count();
        boolean isSynced = !info(node, "role").equals("slave")
                || info(node, "master_link_status").equals("up");
        return isSynced && masters == MASTERS && masters + replicas == running().size();
    }

    // Its file of nodes tells it.
    @Override
    void readmit(RedisServer server) {}

    @Override
    public String toString() {
        return "Redis Cluster " + nodes;
    }
}
