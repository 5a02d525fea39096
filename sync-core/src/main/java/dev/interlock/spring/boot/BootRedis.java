package dev.interlock.spring.boot;

import static java.util.Objects.requireNonNull;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * What Spring Boot knows of Redis, and a part of that. Boot 3.5 has it in types of another package than Boot 4, so it
 * is read by the names of its properties.
 *
 * @param details connection details, or a part of them
 */
record BootRedis(Object details) {
    /** The type of connection details in Boot 4. */
    static final String DETAILS = "org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails";

    /** The same in Boot 3.5. */
    static final String DETAILS_OF_BOOT_3 = "org.springframework.boot.autoconfigure.data.redis.RedisConnectionDetails";

    /** Boot's own details, made of {@code spring.data.redis.*}; classes that aren't public. */
    private static final Set<String> OF_PROPERTIES =
            Set.of("PropertiesDataRedisConnectionDetails", "PropertiesRedisConnectionDetails");

    /**
     * Returns whether that is a running service, as of a test with {@code @ServiceConnection}, and not only what the
     * application's configuration says, or Boot's default.
     */
    boolean isService() {
        return !OF_PROPERTIES.contains(details.getClass().getSimpleName());
    }

    /**
     * Returns where it is.
     *
     * @throws SecretPropertyException if Boot doesn't understand the URL in its properties
     * @throws IllegalStateException if it is of a kind that a URI of ours can't express
     */
    RedisAddress address() {
        try {
            BootRedis sentinel = part("getSentinel");
            if (sentinel != null) {
                return address(sentinel, sentinelUri(sentinel));
            }
            BootRedis cluster = part("getCluster");
            if (cluster != null) {
                return address(cluster, "-cluster://" + hosts(cluster));
            }
            BootRedis server = part("getStandalone");
            if (server != null) {
                return address(
                        server, "://" + server.host("getHost") + ":" + server.get("getPort") + "/" + database(server));
            }
        } catch (RuntimeException e) {
            if (e.getClass().getSimpleName().endsWith("RedisUrlSyntaxException")) {
                // Its message is the URL with its password.
                throw new SecretPropertyException("spring.data.redis.url", "Spring Boot doesn't understand it");
            }
            throw e;
        }
        throw unfit("a master and replicas without sentinels");
    }

    private RedisAddress address(BootRedis servers, String uri) {
        // Boot 3.5 has it with the servers.
        Object bundle = get("getSslBundle") != null ? get("getSslBundle") : servers.get("getSslBundle");
        return new RedisAddress(
                (bundle == null ? "redis" : "rediss") + uri, text("getUsername"), text("getPassword"), (SslBundle)
                        bundle);
    }

    private String sentinelUri(BootRedis sentinel) {
        String own = sentinel.text("getPassword");
        if (own != null && !own.equals(text("getPassword"))) {
            throw unfit("sentinels with a password of their own");
        }
        return "-sentinel://" + hosts(sentinel) + "/" + sentinel.get("getMaster") + "/" + database(sentinel);
    }

    private static IllegalStateException unfit(String what) {
        return new IllegalStateException("The session can't connect to Boot's Redis: these connection details are of "
                + what + ". Define a bean of type RedissonClient, which is used instead, or set interlock.uri");
    }

    private static @Nullable Object database(BootRedis servers) {
        return servers.get("getDatabase");
    }

    private static String hosts(BootRedis servers) {
        List<?> nodes = (List<?>) requireNonNull(servers.get("getNodes"));
        return nodes.stream()
                .map(BootRedis::new)
                .map(node -> node.host("host") + ":" + node.get("port"))
                .collect(Collectors.joining(","));
    }

    private String host(String property) {
        String host = requireNonNull(text(property));
        return host.indexOf(':') < 0 || host.startsWith("[") ? host : "[" + host + "]"; // IPv6
    }

    private @Nullable BootRedis part(String property) {
        Object value = get(property);
        return value == null ? null : new BootRedis(value);
    }

    private @Nullable String text(String property) {
        Object value = get(property);
        return value == null ? null : value.toString();
    }

    /** Returns a property, or null if it has no value, or this line of Boot doesn't have it. */
    private @Nullable Object get(String property) {
        Method method = ClassUtils.getMethodIfAvailable(details.getClass(), property);
        // The class needn't be public; the interface is.
        return method == null
                ? null
                : ReflectionUtils.invokeMethod(
                        ClassUtils.getInterfaceMethodIfPossible(method, details.getClass()), details);
    }

    /** Without the credentials, for logs. */
    @Override
    public String toString() {
        return details.getClass().getName();
    }
}
