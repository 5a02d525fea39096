package dev.interlock.benchmarks;

import static com.google.common.base.Preconditions.checkState;

import dev.interlock.Hold;
import dev.interlock.Interlock;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.SharedWords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Measures holds of many names beside {@code RedissonMultiLock}:
 *
 * <pre>{@code
 * java -cp benchmarks.jar dev.interlock.benchmarks.ManyNames [names rounds seconds]
 * }</pre>
 *
 * <p>First one session, or client, takes so many free names and releases them, 1,000 unless another number is given, in
 * 15 rounds, in which the ways to do that take turns. It prints a {@code FREE} line for each: how long both take, how
 * many scripts Redis runs for them, how often it reads from a connection, which is once for commands that arrive
 * together, and how long a script takes. The 99th percentile and the longest come from rounds of their own, in which
 * Redis logs each command.
 *
 * <p>Then two JVMs take 100 of 200 names again and again, each time others, for 60 seconds. Each name guards a plain
 * counter. It prints a {@code FIGHT} line for each way: sections per second, the longest that one has waited, also if
 * it waits in vain to the end, and for how long in the end one of the JVMs has had no section. A counter that isn't
 * what it has to be ends the program.
 */
public final class ManyNames {
    private static final int WARM_UP = 5;
    private static final int WATCHED_ROUNDS = 3;

    private static final int JVMS = 2;
    private static final int FOUGHT_FOR = 200;
    private static final int FOUGHT_FOR_AT_A_TIME = 100;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private enum Way {
        /** Names that the session has not known. */
        HOLD_NEW {
            @Override
            Taken take(Clients clients, List<String> names) {
                return holdAll(clients, names);
            }
        },
        /** The names of all rounds before. */
        HOLD_AGAIN {
            @Override
            Taken take(Clients clients, List<String> names) {
                return holdAll(
                        clients,
                        IntStream.range(0, names.size())
                                .mapToObj(i -> "again:" + i)
                                .toList());
            }
        },
        MULTI_LOCK {
            @Override
            Taken take(Clients clients, List<String> names) {
                return multiLock(clients, names);
            }
        };

        abstract Taken take(Clients clients, List<String> names);
    }

    /** The way to fight for names. Redisson's doesn't bring them in order. */
    private enum Fight {
        HOLD {
            @Override
            Taken take(Clients clients, List<String> names) {
                return holdAll(clients, names);
            }
        },
        MULTI_LOCK_SORTED {
            @Override
            Taken take(Clients clients, List<String> names) {
                return multiLock(clients, names.stream().sorted().toList());
            }
        },
        MULTI_LOCK {
            @Override
            Taken take(Clients clients, List<String> names) {
                return multiLock(clients, names);
            }
        };

        abstract Taken take(Clients clients, List<String> names);
    }

    /** Names that have been taken. */
    @FunctionalInterface
    private interface Taken {
        /** Returns when Redis has confirmed it, or need not. */
        void release();
    }

    private record Clients(Interlock session, RedissonClient client) implements AutoCloseable {
        static Clients connect(String url) {
            Config config = new Config();
            config.useSingleServer().setAddress(url);
            return new Clients(Interlock.connect(url), Redisson.create(config));
        }

        @Override
        public void close() {
            session.close();
            client.shutdown();
        }
    }

    private static Taken holdAll(Clients clients, List<String> names) {
        Hold hold = clients.session().holds().acquireAll(names).join();
        return () -> hold.release().toCompletableFuture().join();
    }

    private static Taken multiLock(Clients clients, List<String> names) {
        RLock lock = clients.client()
                .getMultiLock(names.stream().map(clients.client()::getLock).toArray(RLock[]::new));
        lock.lock();
        return lock::unlock;
    }

    /** The figures of one round. */
    private record Round(double takenMillis, double releasedMillis, double scripts, double reads, double micros) {}

    private final RedisServer server;
    private final int names;
    private int prefixes;

    private ManyNames(RedisServer server, int names) {
        this.server = server;
        this.names = names;
    }

    /** Measures and prints. */
    public static void main(String[] args) throws IOException {
        int names = args.length > 0 ? Integer.parseInt(args[0]) : 1_000;
        int rounds = args.length > 1 ? Integer.parseInt(args[1]) : 15;
        int seconds = args.length > 2 ? Integer.parseInt(args[2]) : 60;
        try (RedisServer server = RedisServer.launch()) {
            new ManyNames(server, names).takeFreeNames(rounds);
        }
        if (seconds > 0) {
            for (Fight way : Fight.values()) {
                try (RedisServer server = RedisServer.launch()) {
                    fight(way, server, Duration.ofSeconds(seconds));
                }
            }
        }
    }

    // ---- free names

    private void takeFreeNames(int rounds) {
        Map<Way, List<Round>> results = new EnumMap<>(Way.class);
        Map<Way, List<Double>> scripts = new EnumMap<>(Way.class);
        try (Clients clients = Clients.connect(server.url())) {
            for (int round = -WARM_UP; round < rounds; round++) {
                for (Way way : Way.values()) {
                    Round result = play(way, clients);
                    if (round >= 0) {
                        results.computeIfAbsent(way, first -> new ArrayList<>()).add(result);
                    }
                }
            }
            server.command("CONFIG", "SET", "slowlog-log-slower-than", "0");
            server.command("CONFIG", "SET", "slowlog-max-len", "100000");
            for (int round = 0; round < WATCHED_ROUNDS; round++) {
                for (Way way : Way.values()) {
                    server.command("SLOWLOG", "RESET");
                    var unused = play(way, clients);
                    scripts.computeIfAbsent(way, first -> new ArrayList<>()).addAll(scriptMicros());
                }
            }
        }
        results.forEach((way, each) -> print(way, each, scripts.getOrDefault(way, List.of())));
    }

    private Round play(Way way, Clients clients) {
        String prefix = "names" + ++prefixes + ":";
        List<String> taken = IntStream.range(0, names).mapToObj(i -> prefix + i).toList();
        Cost.reset(server);
        long begun = System.nanoTime();
        Taken all = way.take(clients, taken);
        long had = System.nanoTime();
        all.release();
        long released = System.nanoTime();
        Cost cost = Cost.sinceReset(server);
        String statistics = String.valueOf(server.command("INFO", "stats"));
        double reads = Double.parseDouble(statistics.replaceAll("(?s).*total_reads_processed:(\\d+).*", "$1"));
        return new Round(
                (had - begun) / 1e6,
                (released - had) / 1e6,
                cost.calls(),
                reads,
                cost.calls() == 0 ? 0 : (double) cost.micros() / cost.calls());
    }

    /** Returns the microseconds of each script. */
    private List<Double> scriptMicros() {
        if (!(server.command("SLOWLOG", "GET", "-1") instanceof List<?> entries)) {
            throw new IllegalStateException("not an answer to SLOWLOG GET");
        }
        return entries.stream()
                .map(entry -> (List<?>) entry)
                .filter(entry ->
                        String.valueOf(entry.get(3)).toLowerCase(Locale.ROOT).startsWith("[eval"))
                .map(entry -> Double.valueOf(String.valueOf(entry.get(2))))
                .toList();
    }

    private void print(Way way, List<Round> rounds, List<Double> scripts) {
        List<Double> sorted = scripts.stream().sorted().toList();
        System.out.printf(
                Locale.ROOT,
                "FREE %s names=%d taken=%s released=%s scripts=%s reads=%s script=%s"
                        + " script99=%.0f µs longestScript=%.0f µs%n",
                way,
                names,
                spread(rounds, Round::takenMillis).text(" ms"),
                spread(rounds, Round::releasedMillis).text(" ms"),
                spread(rounds, Round::scripts).text(""),
                spread(rounds, Round::reads).text(""),
                spread(rounds, Round::micros).text(" µs"),
                sorted.get((int) (0.99 * sorted.size())),
                sorted.get(sorted.size() - 1));
    }

    private static Spread spread(List<Round> rounds, ToDoubleFunction<Round> part) {
        return Spread.of(rounds.stream().map(part::applyAsDouble).toList());
    }

    // ---- a fight

    /** The result of one JVM. Sections that it finished after the end count, too. */
    private record Fought(long sections, double longestMillis, double idleMillis, long sectionsInAll) {
        static Fought parse(String line) {
            String[] words = line.split(" ", -1);
            return new Fought(
                    Long.parseLong(words[1]),
                    Double.parseDouble(words[2]),
                    Double.parseDouble(words[3]),
                    Long.parseLong(words[4]));
        }
    }

    private static void fight(Fight way, RedisServer server, Duration length) throws IOException {
        Path file = Files.createTempFile("interlock-names", ".counters");
        try (Fleet fleet = Fleet.start(
                JVMS,
                jvm -> ChildJvm.of(Fighter.class)
                        .options("-Xmx512m")
                        .arguments(way.name(), server.url(), file.toString(), String.valueOf(jvm)))) {
            fleet.awaitAll("ready", PATIENCE);
            Cost.reset(server);
            fleet.send("go");
            LockSupport.parkNanos(length.toNanos());
            Cost cost = Cost.sinceReset(server);
            fleet.send("stop");
            List<Fought> fought = fleet.awaitAll("fought ", PATIENCE).stream()
                    .map(Fought::parse)
                    .toList();
            print(way, length, cost, fought);
            SharedWords counters = SharedWords.open(file, FOUGHT_FOR);
            long counted =
                    IntStream.range(0, FOUGHT_FOR).mapToLong(counters::get).sum();
            long all = fought.stream().mapToLong(Fought::sectionsInAll).sum();
            checkState(counted == all * FOUGHT_FOR_AT_A_TIME, "%s sections, but %s increments: %s", all, counted, way);
        } finally {
            Files.delete(file);
        }
    }

    private static void print(Fight way, Duration length, Cost cost, List<Fought> fought) {
        long sections = fought.stream().mapToLong(Fought::sections).sum();
        System.out.printf(
                Locale.ROOT,
                "FIGHT %s sections=%.2f/s ofEach=%s longestWait=%,.0f ms idleAtTheEnd=%,.0f ms"
                        + " scripts=%.0f a section%n",
                way,
                (double) sections / length.toSeconds(),
                fought.stream().map(Fought::sections).toList(),
                fought.stream().mapToDouble(Fought::longestMillis).max().orElse(0),
                fought.stream().mapToDouble(Fought::idleMillis).max().orElse(0),
                (double) cost.calls() / Math.max(1, sections));
    }

    /** A JVM that fights. */
    static final class Fighter {
        /** How long it may take to finish a section, when it is to stop. */
        private static final Duration GRACE = Duration.ofSeconds(3);

        private final Fight way;
        private final Clients clients;
        private final SharedWords counters;
        private final Random random;
        private final AtomicLong sections = new AtomicLong();
        private volatile long longestNanos;
        private volatile long waitsSince;
        private volatile long lastNanos;
        private volatile boolean isOver;

        private Fighter(String[] args) throws IOException {
            way = Fight.valueOf(args[0]);
            clients = RedisServer.connect(() -> Clients.connect(args[1]));
            counters = SharedWords.open(Path.of(args[2]), FOUGHT_FOR);
            random = new Random(Long.parseLong(args[3]));
        }

        public static void main(String[] args) throws IOException, InterruptedException {
            Fighter fighter = new Fighter(args);
            // The first use of the classes.
            fighter.way.take(fighter.clients, List.of("ready:" + args[3])).release();
            ChildConsole.say("ready");
            ChildConsole.readCommand();
            fighter.lastNanos = System.nanoTime();
            Thread thread = new Thread(fighter::fight, "fighter");
            thread.start();
            ChildConsole.readCommand();
            long now = System.nanoTime();
            fighter.isOver = true;
            String said = fighter.sections.get() + " " + fighter.longestNanos(now) / 1e6 + " "
                    + (now - fighter.lastNanos) / 1e6;
            // If it hasn't ended it waits, and counts nothing.
            thread.join(GRACE.toMillis());
            ChildConsole.say("fought " + said + " " + fighter.sections.get());
            ChildConsole.readCommand();
        }

        private long longestNanos(long now) {
            long since = waitsSince;
            return since == 0 ? longestNanos : Math.max(longestNanos, now - since);
        }

        private void fight() {
            List<Integer> all =
                    new ArrayList<>(IntStream.range(0, FOUGHT_FOR).boxed().toList());
            while (!isOver) {
                Collections.shuffle(all, random);
                List<Integer> chosen = all.subList(0, FOUGHT_FOR_AT_A_TIME);
                long begun = System.nanoTime();
                waitsSince = begun;
                Taken taken = way.take(
                        clients, chosen.stream().map(index -> "fight:" + index).toList());
                waitsSince = 0;
                longestNanos = Math.max(longestNanos, System.nanoTime() - begun);
                chosen.forEach(index -> counters.set(index, counters.get(index) + 1));
                sections.incrementAndGet();
                lastNanos = System.nanoTime();
                taken.release();
            }
        }
    }
}
