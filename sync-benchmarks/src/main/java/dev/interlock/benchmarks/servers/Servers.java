package dev.interlock.benchmarks.servers;

import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The servers of a run. But for Redis, each is started when somebody asks for it first, since some take seconds, and
 * ends with this JVM even if that is killed. Where the environment names one, that is taken.
 */
public final class Servers implements AutoCloseable {

    private final Map<Service, Supplier<Server>> starters;
    private final Map<Service, String> addresses = new EnumMap<>(Service.class);
    private final Map<Service, String> absences = new EnumMap<>(Service.class);
    private final Map<String, String> versions = libraries();
    private final Deque<Server> running = new ArrayDeque<>();

    /**
     * The servers that this machine has.
     *
     * @param redis that of the run, which stays when the others are closed
     */
    public Servers(RedisServer redis) {
        this(
                redis.url(),
                Map.of(
                        Service.ZOOKEEPER,
                        ZooKeeper::start,
                        Service.HAZELCAST,
                        HazelcastGroup::start,
                        Service.POSTGRES,
                        () -> PostgreSql.start(System.getenv(), PostgreSql.DEBIANS),
                        Service.ETCD,
                        () -> Etcd.start(System.getenv())));
    }

    /** Those that can be started so. */
    Servers(String redisUrl, Map<Service, Supplier<Server>> starters) {
        this.starters = starters;
        addresses.put(Service.REDIS, redisUrl);
    }

    /** Why a service can't be had, empty if it is there: now, if it wasn't before. */
    public synchronized Optional<String> absence(Service service) {
        if (service != Service.NONE && !addresses.containsKey(service) && !absences.containsKey(service)) {
            start(service);
        }
        return Optional.ofNullable(absences.get(service));
    }

    /** Where those are that are there: Redis, and whatever somebody has asked for. */
    public synchronized Addresses addresses() {
        return new Addresses(addresses);
    }

    /** The versions of all libraries, and of the servers that somebody has asked for, by name. */
    public synchronized Map<String, String> versions() {
        return new TreeMap<>(versions);
    }

    private void start(Service service) {
        Supplier<Server> starter = starters.get(service);
        if (starter == null) {
            absences.put(service, "nobody knows how to start " + service);
            return;
        }
        try {
            Server server = starter.get();
            running.push(server);
            versions.put(server.version().getKey(), server.version().getValue());
            addresses.put(service, server.address());
        } catch (AbsentException e) {
            absences.put(service, String.valueOf(e.getMessage()));
        }
    }

    // As the build knows them: in one jar of all, the libraries' own manifests are gone.
    private static Map<String, String> libraries() {
        try (InputStream file = Servers.class.getResourceAsStream("versions.properties")) {
            if (file == null) {
                throw new IllegalStateException("versions.properties isn't on the class path");
            }
            var properties = new Properties();
            properties.load(file);
            var versions = new TreeMap<String, String>();
            properties.stringPropertyNames().forEach(name -> versions.put(name, properties.getProperty(name)));
            return versions;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized void close() {
        while (!running.isEmpty()) {
            running.pop().close();
        }
        addresses.keySet().retainAll(Set.of(Service.REDIS));
    }
}
