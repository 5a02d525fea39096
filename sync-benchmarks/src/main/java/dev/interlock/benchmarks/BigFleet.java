package dev.interlock.benchmarks;

import static com.google.common.base.Preconditions.checkArgument;

import dev.interlock.Interlock;
import dev.interlock.LeaseLostException;
import dev.interlock.SyncListener;
import dev.interlock.testing.ChildConsole;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Measures a big fleet on this machine: its sessions hold so many names for a while, each the same number of them.
 * Arguments are the numbers of sessions, of names and of JVMs, 1000, 100000 and 4 unless others are given. Redis is one
 * of its own. It prints a {@code FLEET} line for each step.
 */
public final class BigFleet {
    private static final Duration PATIENCE = Duration.ofMinutes(10);
    private static final Duration WATCHED = Duration.ofSeconds(60);

    /** Longer than the time between two renewals, and shorter than a lease. */
    private static final Duration STANDSTILL = Duration.ofSeconds(12);

    private final RedisServer server;
    private final Fleet fleet;
    private final int names;

    private BigFleet(RedisServer server, Fleet fleet, int names) {
        this.server = server;
        this.fleet = fleet;
        this.names = names;
    }

    /** Measures and prints. */
    public static void main(String[] args) {
        int sessions = args.length > 0 ? Integer.parseInt(args[0]) : 1_000;
        int names = args.length > 1 ? Integer.parseInt(args[1]) : 100_000;
        int jvms = args.length > 2 ? Integer.parseInt(args[2]) : 4;
        checkArgument(
                jvms > 0 && sessions % jvms == 0 && names % sessions == 0,
                "sessions must be a multiple of JVMs, and names a multiple of sessions, but they are %s, %s and %s",
                sessions,
                jvms,
                names);
        try (RedisServer server = RedisServer.launch("--maxclients", "20000");
                Fleet fleet = Fleet.start(
                        jvms,
                        jvm -> ChildJvm.of(Member.class)
                                .options("-Xmx2g", "-Xss256k")
                                .arguments(
                                        server.url(),
                                        String.valueOf(jvm * (sessions / jvms)),
                                        String.valueOf(sessions / jvms),
                                        String.valueOf(names / sessions)))) {
            new BigFleet(server, fleet, names).measure();
        }
    }

    private void measure() {
        print("sessions are open", ask("open"));
        print("names are locked", ask("lock"));
        System.out.printf(
                Locale.ROOT,
                "FLEET connections=%d redisBytesPerName=%.0f heapBytesPerName=%.0f threads=%.0f%n",
                info("clients", "connected_clients"),
                (double) info("memory", "used_memory") / names,
                sum(ask("heap")) / names,
                sum(ask("threads")));
        long micros = processorMicros();
        long commands = info("stats", "total_commands_processed");
        long bytes = info("stats", "total_net_input_bytes");
        LockSupport.parkNanos(WATCHED.toNanos());
        double seconds = WATCHED.toSeconds();
        System.out.printf(
                Locale.ROOT,
                "FLEET while all is held: redisProcessor=%.1f%% commandsPerSecond=%.0f kBPerSecond=%.0f%n",
                (processorMicros() - micros) / seconds / 10_000,
                (info("stats", "total_commands_processed") - commands) / seconds,
                (info("stats", "total_net_input_bytes") - bytes) / seconds / 1_000);
        print("all names are renewed", ask("renewed"));
        server.pause();
        LockSupport.parkNanos(STANDSTILL.toNanos());
        server.resume();
        print("all names are renewed after Redis stood still for " + STANDSTILL.toSeconds() + " s", ask("renewed"));
        print("losses in all: " + (long) sum(ask("losses")) + "; everything is closed", ask("close"));
    }

    /** Sends a command to all JVMs, and returns the numbers that they answer. */
    private List<Double> ask(String what) {
        fleet.send(what);
        return fleet.awaitAll(what + " ", PATIENCE).stream()
                .map(line -> Double.parseDouble(line.substring(what.length() + 1)))
                .toList();
    }

    private static double sum(List<Double> numbers) {
        return numbers.stream().mapToDouble(Double::doubleValue).sum();
    }

    private static void print(String what, List<Double> millis) {
        double slowest = millis.stream().mapToDouble(Double::doubleValue).max().orElse(0);
        System.out.printf(Locale.ROOT, "FLEET %s after %.1f s%n", what, slowest / 1_000);
    }

    private long info(String section, String field) {
        Matcher matcher = Pattern.compile(field + ":(\\d+)").matcher(String.valueOf(server.command("INFO", section)));
        return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
    }

    private long processorMicros() {
        String cpu = String.valueOf(server.command("INFO", "cpu"));
        Matcher matcher = Pattern.compile("used_cpu_(?:user|sys):([\\d.]+)").matcher(cpu);
        double seconds = 0;
        while (matcher.find()) {
            seconds += Double.parseDouble(matcher.group(1));
        }
        return (long) (seconds * 1_000_000);
    }

    /** A JVM of the fleet, which does what it is told and answers with how long that took, in ms, or with a number. */
    static final class Member {
        private final List<Interlock> sessions = new ArrayList<>();
        private final Set<String> renewed = ConcurrentHashMap.newKeySet();
        private final Set<String> lost = ConcurrentHashMap.newKeySet();
        private final String url;
        private final int first;
        private final int count;
        private final int namesEach;

        private Member(String[] args) {
            url = args[0];
            first = Integer.parseInt(args[1]);
            count = Integer.parseInt(args[2]);
            namesEach = Integer.parseInt(args[3]);
        }

        public static void main(String[] args) throws InterruptedException {
            Member member = new Member(args);
            String command;
            do {
                command = ChildConsole.readCommand();
                long begun = System.nanoTime();
                double number = member.obey(command);
                double millis = (System.nanoTime() - begun) / 1e6;
                ChildConsole.say(command + " " + (number < 0 ? millis : number));
            } while (!command.equals("close"));
        }

        /** Returns a number, or one below 0 if it is the time that matters. */
        private double obey(String command) {
            switch (command) {
                case "open" -> open();
                case "lock" -> lock();
                case "renewed" -> awaitRenewals();
                case "heap" -> {
                    return usedHeap();
                }
                case "threads" -> {
                    return Thread.activeCount();
                }
                case "losses" -> {
                    return lost.size();
                }
                case "close" -> sessions.forEach(Interlock::close);
                default -> throw new IllegalArgumentException(command);
            }
            return -1;
        }

        private void open() {
            SyncListener listener = new SyncListener() {
                @Override
                public void renewed(String name, long validNanos) {
                    renewed.add(name);
                }

                @Override
                public void lost(LeaseLostException loss) {
                    lost.add(loss.lockName());
                }
            };
            for (int i = 0; i < count; i++) {
                sessions.add(Interlock.builder().uri(url).listener(listener).open());
            }
        }

        private void lock() {
            for (int i = 0; i < count; i++) {
                for (int n = 0; n < namesEach; n++) {
                    sessions.get(i).lock("fleet:" + (first + i) + ":" + n).lock();
                }
            }
        }

        private void awaitRenewals() {
            renewed.clear();
            while (renewed.size() + lost.size() < count * namesEach) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
            }
        }

        private static double usedHeap() {
            System.gc();
            return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
        }
    }
}
