package dev.interlock.spring.boot;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.ssl.SslBundle;

/**
 * Where Redis is, as something else than our own properties says.
 *
 * @param asService whether that is a running service, as of a test with {@code @ServiceConnection}, and not only what
 *     the application's configuration says, or Boot's default
 */
record RedisAddress(
        String uri,
        @Nullable String username,
        @Nullable String password,
        @Nullable SslBundle bundle,
        boolean asService) {

    /** Boot's own details, made of {@code spring.data.redis.*}; a class that isn't public. */
    private static final String OF_PROPERTIES = "PropertiesDataRedisConnectionDetails";

    /** For the class path with Boot's module for Redis. */
    static RedisAddress of(DataRedisConnectionDetails details) {
        return new RedisAddress(
                uri(details, details.getSslBundle() == null ? "redis" : "rediss"),
                details.getUsername(),
                details.getPassword(),
                details.getSslBundle(),
                !details.getClass().getSimpleName().equals(OF_PROPERTIES));
    }

    private static String uri(DataRedisConnectionDetails details, String scheme) {
        if (details.getSentinel() != null) {
            return sentinelUri(details, details.getSentinel(), scheme);
        }
        if (details.getCluster() != null) {
            return scheme + "-cluster://" + hosts(details.getCluster().getNodes());
        }
        if (details.getStandalone() != null) {
            DataRedisConnectionDetails.Standalone server = details.getStandalone();
            return scheme + "://" + host(server.getHost()) + ":" + server.getPort() + "/" + server.getDatabase();
        }
        throw unfit("a master and replicas without sentinels");
    }

    private static String sentinelUri(
            DataRedisConnectionDetails details, DataRedisConnectionDetails.Sentinel sentinel, String scheme) {
        String own = sentinel.getPassword();
        if (own != null && !own.equals(details.getPassword())) {
            throw unfit("sentinels with a password of their own");
        }
        return scheme + "-sentinel://" + hosts(sentinel.getNodes()) + "/" + sentinel.getMaster() + "/"
                + sentinel.getDatabase();
    }

    private static IllegalStateException unfit(String what) {
        return new IllegalStateException("The session can't connect to Boot's Redis: these connection details are of "
                + what + ". Define a bean of type RedissonClient, which is used instead, or set interlock.uri");
    }

    private static String hosts(List<Node> nodes) {
        return nodes.stream().map(node -> host(node.host()) + ":" + node.port()).collect(Collectors.joining(","));
    }

    private static String host(String host) {
        return host.indexOf(':') < 0 || host.startsWith("[") ? host : "[" + host + "]"; // IPv6
    }
}
