package dev.interlock.quorum;

import dev.interlock.testing.FaultProxy;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;

/** Independent servers, each behind a proxy, and what is stored there. */
public final class Nodes implements AutoCloseable {
    private final List<RedisServer> servers;
    private final List<FaultProxy> proxies;

    private Nodes(List<RedisServer> servers) {
        this.servers = servers;
        this.proxies = servers.stream().map(FaultProxy::to).toList();
    }

    /** Starts so many servers. */
    public static Nodes launch(int count, String... arguments) {
        return new Nodes(IntStream.range(0, count)
                .mapToObj(i -> RedisServer.launch(arguments))
                .toList());
    }

    public int size() {
        return servers.size();
    }

    /** The node of that index, counted from 0. */
    public RedisServer node(int index) {
        return servers.get(index);
    }

    FaultProxy proxy(int index) {
        return proxies.get(index);
    }

    /** Addresses of the servers themselves. */
    public List<String> urls() {
        return servers.stream().map(RedisServer::url).toList();
    }

    /** Addresses of the proxies. */
    List<String> proxied() {
        return proxies.stream().map(FaultProxy::url).toList();
    }

    /** Clients with small pools and few threads, one for each address. */
    public static List<RedissonClient> clients(List<String> urls) {
        return urls.stream().map(Nodes::client).toList();
    }

    private static RedissonClient client(String url) {
        Config config = new Config();
        config.setCodec(StringCodec.INSTANCE);
        config.setThreads(2);
        config.setNettyThreads(2);
        config.useSingleServer()
                .setAddress(url)
                .setTimeout(500)
                .setConnectTimeout(1_000)
                .setRetryDelay(new ConstantDelay(Duration.ofMillis(100)))
                .setConnectionMinimumIdleSize(2)
                .setConnectionPoolSize(24)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(4);
        return Redisson.create(config);
    }

    static String lockKey(String name) {
        return "interlock:{" + name + "}:quorum";
    }

    /** Who owns a name at a node, as {@code <session>:<sequence>}; empty if nobody does. */
    String owner(int index, String name) {
        return servers.get(index).command("HKEYS", lockKey(name)) instanceof List<?> fields && !fields.isEmpty()
                ? String.valueOf(fields.get(0))
                : "";
    }

    /** At how many nodes a session owns a name. */
    long votes(String name, String session) {
        return IntStream.range(0, size())
                .filter(i -> owner(i, name).startsWith(session + ":"))
                .count();
    }

    long token(int index, String name) {
        Object token = servers.get(index).command("GET", lockKey(name) + "-token");
        return token == null ? 0 : Long.parseLong(token.toString());
    }

    boolean waits(int index, String name, String session) {
        return Objects.equals(servers.get(index).command("HEXISTS", lockKey(name) + "-waiters", session), 1L);
    }

    /** What there is at a node apart from marks and tokens that expire by themselves. */
    public Set<String> leftovers(int index) {
        Set<String> left = new TreeSet<>();
        servers.get(index).ttlMillis().forEach((key, millis) -> {
            boolean lasts = key.matches("(?s)interlock:.*:quorum-(token|mark:.*)");
            if (millis == -1 || (!lasts && millis != -2)) {
                left.add(key);
            }
        });
        return left;
    }

    void flush() {
        servers.forEach(server -> server.command("FLUSHALL"));
    }

    @Override
    public void close() {
        proxies.forEach(FaultProxy::close);
        servers.forEach(RedisServer::close);
    }
}
