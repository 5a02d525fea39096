package dev.interlock.benchmarks;

import dev.interlock.Interlock;
import dev.interlock.Transport;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Measures how long a fresh JVM takes from the beginning of {@code main} to its first lock: it opens a session, or a
 * client, and locks a free name. The ways to do that take turns. The argument is how often each is tried, 15 unless
 * another number is given. It prints a {@code FIRST} line for each.
 */
public final class FirstLock {
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private static final String NAME = "first";

    private enum Way {
        INTERLOCK {
            @Override
            void lock(String uri) {
                lockBy(Transport.DIRECT, uri);
            }
        },
        INTERLOCK_BY_REDISSON {
            @Override
            void lock(String uri) {
                lockBy(Transport.REDISSON, uri);
            }
        },
        RLOCK {
            @Override
            void lock(String uri) {
                Config config = new Config();
                config.useSingleServer().setAddress(uri);
                RedissonClient client = Redisson.create(config);
                client.getLock(NAME).lock();
            }
        };

        /** Opens what it takes and locks. Nothing is closed: the JVM ends. */
        abstract void lock(String uri);

        static void lockBy(Transport transport, String uri) {
            Interlock.builder().uri(uri).transport(transport).open().lock(NAME).lock();
        }
    }

    private FirstLock() {}

    /** Measures and prints. */
    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 15;
        Map<Way, List<Double>> times = new EnumMap<>(Way.class);
        try (RedisServer server = RedisServer.launch()) {
            for (int round = 0; round < rounds; round++) {
                for (Way way : Way.values()) {
                    server.command("FLUSHALL");
                    times.computeIfAbsent(way, first -> new ArrayList<>()).add(measure(way, server.url()));
                }
            }
        }
        times.forEach(FirstLock::print);
    }

    private static double measure(Way way, String uri) {
        try (ChildJvm jvm = ChildJvm.of(Fresh.class).arguments(way.name(), uri).start()) {
            return Double.parseDouble(jvm.await("locked ", PATIENCE).substring("locked ".length()));
        }
    }

    private static void print(Way way, List<Double> millis) {
        Collections.sort(millis);
        System.out.printf(
                Locale.ROOT,
                "FIRST %s median=%.0f ms least=%.0f ms most=%.0f ms%n",
                way,
                millis.get(millis.size() / 2),
                millis.get(0),
                millis.get(millis.size() - 1));
    }

    /** The JVM that locks. */
    static final class Fresh {
        private Fresh() {}

        public static void main(String[] args) {
            long begun = System.nanoTime();
            Way.valueOf(args[0]).lock(args[1]);
            ChildConsole.say("locked " + (System.nanoTime() - begun) / 1e6);
        }
    }
}
