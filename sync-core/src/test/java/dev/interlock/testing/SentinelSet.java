package dev.interlock.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** A master, two replicas, and three sentinels that replace a dead master after some 2 s. */
public final class SentinelSet extends Topology {
    /** What the sentinels call the master. */
    public static final String MASTER = "main";

    private static final int REPLICAS = 2;
    private static final int SENTINELS = 3;
    private static final String NO_DELAY = "--repl-diskless-sync-delay";

    private final List<RedisServer> nodes = new ArrayList<>();
    private final List<RedisServer> sentinels = new ArrayList<>();

    private SentinelSet() {}

    /** Starts them and returns when all know each other. */
    public static SentinelSet launch() {
        SentinelSet set = new SentinelSet();
        try {
            set.start();
            return set;
        } catch (RuntimeException | Error e) {
            set.close();
            throw e;
        }
    }

    private void start() {
        RedisServer master = RedisServer.launch(NO_DELAY, "0");
        nodes.add(master);
        for (int i = 0; i < REPLICAS; i++) {
            nodes.add(RedisServer.launch(NO_DELAY, "0", "--replicaof", master.host(), Integer.toString(master.port())));
        }
        await("replicating", () -> nodes.stream().skip(1).allMatch(SentinelSet::isLinked));
        String configuration = """
                sentinel monitor %1$s %2$s %3$d 2
                sentinel down-after-milliseconds %1$s 1000
                sentinel failover-timeout %1$s 5000
                sentinel parallel-syncs %1$s 2
                """.formatted(MASTER, master.host(), master.port());
        for (int i = 0; i < SENTINELS; i++) {
            sentinels.add(RedisServer.launchConfigured(configuration, "--sentinel"));
        }
        awaitReady();
    }

    private static boolean isLinked(RedisServer replica) {
        return info(replica, "master_link_status").equals("up");
    }

    @Override
    public List<RedisServer> nodes() {
        return nodes;
    }

    /** Those of the sentinels. */
    @Override
    public List<String> urls() {
        return sentinels.stream().map(RedisServer::url).toList();
    }

    @Override
    public RedisServer masterOf(String key) {
        return masterSeenBy(sentinels.get(0));
    }

    private RedisServer masterSeenBy(RedisServer sentinel) {
        Object address = Objects.requireNonNull(sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER));
        return at(Integer.parseInt(String.valueOf(((List<?>) address).get(1))));
    }

    @Override
    boolean isReady() {
        RedisServer master = masterOf("");
        return sentinels.stream().allMatch(sentinel -> isReady(sentinel, master))
                && running().stream()
                        .allMatch(node -> node == master
                                ? info(node, "role").equals("master")
                                : isLinked(node) && info(node, "master_port").equals(Integer.toString(master.port())));
    }

    private boolean isReady(RedisServer sentinel, RedisServer master) {
        return masterSeenBy(sentinel) == master
                && String.valueOf(sentinel.command("SENTINEL", "CKQUORUM", MASTER))
                        .startsWith("OK 3")
                && working(sentinel, "REPLICAS") == running().size() - 1
                && working(sentinel, "SENTINELS") == SENTINELS - 1;
    }

    private static long working(RedisServer sentinel, String others) {
        return ((List<?>) Objects.requireNonNull(sentinel.command("SENTINEL", others, MASTER)))
                .stream()
                        .filter(fields -> {
                            List<?> pairs = (List<?>) fields;
                            String flags = String.valueOf(pairs.get(pairs.indexOf("flags") + 1));
                            return !flags.contains("down") && !flags.contains("disconnected");
                        })
                        .count();
    }

    // The sentinels would do so, too, but only after a while.
    @Override
    void readmit(RedisServer server) {
        RedisServer master = masterOf("");
        if (master != server) {
            server.command("REPLICAOF", master.host(), Integer.toString(master.port()));
        }
    }

    @Override
    public void close() {
        sentinels.forEach(RedisServer::close);
        super.close();
    }

    @Override
    public String toString() {
        return "Redis Sentinel " + sentinels + " of " + nodes;
    }
}
