package dev.interlock.benchmarks.scenarios;

import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.scenarios.Scenario.Measure;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.benchmarks.scenarios.Scenario.Setting;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** All scenarios, and who plays in them. */
public final class Scenarios {

    private static final int NAMES_HELD = 10_000;
    private static final int WAITING = 10_000;
    private static final int WAITING_VIRTUALLY = 100_000;

    private static final List<String> ON_REDIS =
            List.of("RLock", "RFairLock", "RSpinLock", "SETNX", "Spring-pubsub", "Spring-spin");

    private static final Set<String> ELSEWHERE = Set.of(
            "ReentrantLock",
            "ReentrantReadWriteLock",
            "Curator",
            "Hazelcast",
            "Postgres-advisory",
            "Postgres-row",
            "etcd");

    /** What locks across JVMs. */
    private static final List<String> ACROSS = Stream.concat(
                    ON_REDIS.stream(), Stream.of("Curator", "Hazelcast", "Postgres-advisory", "Postgres-row", "etcd"))
            .toList();

    private static final List<String> ALL_LOCKS =
            Stream.concat(ACROSS.stream(), Stream.of("ReentrantLock")).toList();

    /** Some of those that wake a thread which waits, where there is no time for all. */
    private static final List<String> WAKING =
            List.of("RLock", "RFairLock", "Spring-pubsub", "Curator", "Postgres-advisory");

    private static List<String> and(String first, List<String> others) {
        return Stream.concat(Stream.of(first), others.stream()).toList();
    }

    /** One round, to see that it works. */
    private static final Pace GLANCE = Pace.of(40, 0, 1);

    private static final Pace SMOKE = Pace.of(40, 1, 2);

    /** Long enough for what happens once a second. */
    private static final Pace LONG = Pace.of(1_000, 1, 7);

    /** Round trips, one after the other. */
    private static final Pace FINE = Pace.of(100, 10, 36);

    /** Contention of those that are compared closely. */
    private static final Pace COARSE = Pace.of(500, 2, 9);

    /** Threads that take turns: their JVMs need seconds to compile what they do. */
    private static final Pace TURNS = Pace.of(300, 8, 9);

    /** The same of more JVMs, in each of which less is done. */
    private static final Pace MORE_TURNS = Pace.of(300, 16, 9);

    /** The same over a slow wire. */
    private static final Pace BRIEF = Pace.of(250, 5, 9);

    /** Contention of many, over many points. */
    private static final Pace WIDE = Pace.of(400, 1, 5);

    /** Where each JVM does little, it takes it long to compile what it does. */
    private static final Pace SLOW = Pace.of(400, 12, 12);

    /** As {@link #FINE}, for scenarios that are played by three. */
    private static final Pace STEADY = Pace.of(100, 12, 48);

    /** Where ratios are too large for anybody to care about their last digit. */
    private static final Pace BRISK = Pace.of(250, 6, 12);

    /** Leases are renewed every ten seconds: less than that shows nothing, and more should be a multiple. */
    private static final Pace QUICK_WATCH = Pace.of(10_000, 0, 1);

    private static final Pace WATCH = Pace.of(30_000, 0, 1);

    /** The most time that all those who wait are given. */
    private static final Pace QUICK_QUEUE = Pace.of(3_000, 0, 1);

    private static final Pace QUEUE = Pace.of(60_000, 0, 1);

    /** In the order in which they are played. */
    public static final List<Scenario> ALL = Stream.of(
                    uncontended(),
                    kept(),
                    threads(),
                    jvms(),
                    lone(),
                    handOffs(),
                    sections(),
                    delays(),
                    loneDelayed(),
                    others(),
                    observed(),
                    crowds(),
                    Fleets.all())
            .flatMap(family -> family)
            .toList();

    private Scenarios() {}

    /** Whether a contestant does what it does through Redis. */
    public static boolean isOnRedis(String contestant) {
        return !ELSEWHERE.contains(contestant);
    }

    private static Stream<Scenario> uncontended() {
        List<String> all =
                Stream.concat(ALL_LOCKS.stream(), Stream.of("round-trip")).toList();
        return Stream.of(
                scenario(
                        Family.UNCONTENDED,
                        "uncontended-1t",
                        Setting.of(1, 1),
                        "Interlock",
                        all,
                        Pace.of(50, 1, 2),
                        FINE),
                scenario(
                        Family.UNCONTENDED,
                        "uncontended-new-names-1t",
                        Setting.of(1, 1),
                        "Interlock-new-names",
                        List.of("Interlock-new-names-by-Redisson", "RLock-new-names"),
                        SMOKE,
                        FINE),
                scenario(
                        Family.UNCONTENDED,
                        "uncontended-retained-1t",
                        Setting.of(1, 1),
                        "Interlock-retaining",
                        List.of("RLock"),
                        SMOKE,
                        COARSE));
    }

    /** Names that a session keeps, or not. */
    private static Stream<Scenario> kept() {
        return Stream.of(
                of(
                        Family.UNCONTENDED,
                        "alternate-2jvm",
                        Setting.of(2, 1),
                        Measure.SECTIONS_AND_WAITS,
                        "Interlock-now-and-then",
                        List.of("at-once-now-and-then"),
                        Pace.of(300, 0, 1),
                        Pace.of(4_000, 1, 5)),
                scenario(
                        Family.UNCONTENDED,
                        "trylock-elsewhere",
                        Setting.of(1, 1),
                        "Interlock-elsewhere",
                        List.of("RLock-elsewhere"),
                        GLANCE,
                        FINE));
    }

    private static Stream<Scenario> threads() {
        return IntStream.of(1, 2, 4, 8, 16, 32, 64).mapToObj(threads -> {
            Scenario all = scenario(
                    Family.THREADS,
                    "throughput-1jvm-" + threads + "t",
                    Setting.of(1, threads),
                    "Interlock",
                    ALL_LOCKS,
                    SMOKE,
                    WIDE);
            return threads == 8 ? all : all.quickly("RLock", "ReentrantLock");
        });
    }

    private static Stream<Scenario> jvms() {
        // One JVM with two threads is among those over threads.
        return IntStream.of(2, 4, 8)
                .mapToObj(jvms -> scenario(
                                Family.JVMS,
                                "throughput-" + jvms + "jvm-2t",
                                Setting.of(jvms, 2),
                                "Interlock",
                                ACROSS,
                                SMOKE,
                                WIDE)
                        .quickly("RLock"));
    }

    /** People try this first: a thread in each JVM locks, does a little and unlocks, in a loop. */
    private static Stream<Scenario> lone() {
        return Stream.concat(
                lone(Family.LONE, "", 0, WAKING, TURNS),
                Stream.of(lone(Family.LONE, "throughput-4jvm-1t", Setting.of(4, 1), WAKING, MORE_TURNS)));
    }

    /** The same with a network between the JVMs and Redis. */
    private static Stream<Scenario> loneDelayed() {
        List<String> onRedis = WAKING.stream().filter(Scenarios::isOnRedis).toList();
        return Stream.concat(
                lone(Family.DELAY, "delay-0.5ms-", 500, onRedis, BRIEF),
                lone(Family.DELAY, "delay-2ms-", 2_000, onRedis, BRIEF));
    }

    private static Stream<Scenario> lone(
            Family family, String prefix, long delayMicros, List<String> peers, Pace pace) {
        Setting two = Setting.of(2, 1).delayed(delayMicros);
        return Stream.of(
                lone(family, prefix + "counter-2jvm-1t", two.counting(), peers, pace),
                lone(family, prefix + "throughput-2jvm-1t", two, peers, pace),
                lone(family, prefix + "think-200us-2jvm-1t", two.thinking(200), peers, pace));
    }

    private static Scenario lone(Family family, String name, Setting setting, List<String> peers, Pace pace) {
        return of(family, name, setting, Measure.SECTIONS_AND_WAITS, "Interlock", peers, GLANCE, pace)
                .quickly("RLock");
    }

    private static Stream<Scenario> handOffs() {
        // Long enough for the other one to be in the queue, whatever that takes with any of them.
        Setting alternating = Setting.of(2, 1).staying(5_000);
        List<String> all = and("Interlock-by-Redisson", and("pubsub-echo", ACROSS));
        String[] few = and("Interlock-by-Redisson", and("pubsub-echo", WAKING)).toArray(String[]::new);
        return Stream.of(
                of(
                                Family.HAND_OFFS,
                                "handoff-2jvm",
                                alternating,
                                Measure.HAND_OFF_LATENCY,
                                "Interlock",
                                all,
                                Pace.of(150, 1, 2),
                                Pace.of(500, 9, 14))
                        .quickly(few),
                of(
                        Family.HAND_OFFS,
                        "fair-handoff-2jvm-1t",
                        Setting.of(2, 1),
                        Measure.HAND_OFFS,
                        "Interlock-fair",
                        List.of("Interlock-fair-by-Redisson", "RFairLock", "RLock", "pubsub-echo"),
                        SMOKE,
                        SLOW));
    }

    private static Stream<Scenario> sections() {
        return Stream.of(
                scenario(
                        Family.SECTIONS,
                        "contended-1jvm-8t",
                        Setting.of(1, 8),
                        "Interlock",
                        List.of("RLock", "ReentrantLock"),
                        SMOKE,
                        COARSE),
                scenario(
                                Family.SECTIONS,
                                "section-100us-1jvm-8t",
                                Setting.of(1, 8).staying(100),
                                "Interlock",
                                ALL_LOCKS,
                                SMOKE,
                                WIDE)
                        .quickly("RLock", "ReentrantLock"),
                scenario(
                                Family.SECTIONS,
                                "section-5ms-1jvm-8t",
                                Setting.of(1, 8).staying(5_000),
                                "Interlock",
                                ALL_LOCKS,
                                SMOKE,
                                Pace.of(800, 1, 5))
                        .quickly("RLock", "ReentrantLock"));
    }

    private static Stream<Scenario> delays() {
        Scenario newNames = scenario(
                        Family.DELAY,
                        "delay-2ms-new-names-1t",
                        Setting.of(1, 1).delayed(2_000),
                        "Interlock-new-names",
                        List.of("Interlock-new-names-by-Redisson", "RLock-new-names"),
                        SMOKE,
                        WIDE)
                .quickly("RLock-new-names");
        Stream<Scenario> known = IntStream.of(500, 2_000).boxed().flatMap(micros -> {
            String prefix = "delay-" + (micros == 500 ? "0.5ms" : "2ms");
            Setting one = Setting.of(1, 1).delayed(micros);
            Setting eight = Setting.of(1, 8).delayed(micros);
            List<String> locks = ON_REDIS;
            return Stream.of(
                    scenario(
                                    Family.DELAY,
                                    prefix + "-uncontended-1t",
                                    one,
                                    "Interlock",
                                    Stream.concat(locks.stream(), Stream.of("round-trip"))
                                            .toList(),
                                    SMOKE,
                                    WIDE)
                            .quickly("RLock", "round-trip"),
                    scenario(Family.DELAY, prefix + "-contended-1jvm-8t", eight, "Interlock", locks, SMOKE, WIDE)
                            .quickly("RLock"),
                    scenario(
                            Family.DELAY,
                            prefix + "-retained-1t",
                            one,
                            "Interlock-retaining",
                            List.of("RLock"),
                            SMOKE,
                            WIDE));
        });
        return Stream.concat(known, Stream.of(newNames));
    }

    private static Stream<Scenario> others() {
        List<String> fair = List.of("RFairLock");
        List<String> readers = List.of("RReadWriteLock");
        List<String> messages = List.of("pubsub-echo");
        List<String> limiters = List.of("RRateLimiter", "Bucket4j");
        return Stream.of(
                of(
                        Family.CONTENDED,
                        "contended-2jvm-4t",
                        Setting.of(2, 4),
                        Measure.SECTIONS_AND_WAITS,
                        "Interlock",
                        List.of("RLock"),
                        SMOKE,
                        COARSE),
                scenario(
                        Family.CONTENDED,
                        "trylock-storm",
                        Setting.of(1, 8),
                        "Interlock-stormed",
                        List.of("Interlock"),
                        GLANCE,
                        COARSE),
                scenario(Family.FAIR, "fair-1jvm-8t", Setting.of(1, 8), "Interlock-fair", fair, SMOKE, SLOW),
                scenario(Family.FAIR, "fair-4jvm-4t", Setting.of(4, 4), "Interlock-fair", fair, SMOKE, SLOW),
                turns("condition-pingpong-2jvm", "Interlock-conditions", messages),
                turns("latch-2jvm", "Interlock-latch", messages),
                turns("barrier-2jvm", "Interlock-barrier", messages),
                readers("read-uncontended-1t", Setting.of(1, 1).writing(0), readers),
                readers("read-1jvm-8t", Setting.of(1, 8).writing(0), readers),
                readers("rw-90-10-2jvm-4t", Setting.of(2, 4).writing(10), readers),
                semaphore("semaphore-1jvm-8t-4p", Setting.of(1, 8)),
                semaphore("semaphore-2jvm-4t-4p", Setting.of(2, 4)),
                permits("rate-bucket-1t", 1, "Interlock-bucket", limiters, STEADY),
                permits("rate-bucket-8t", 8, "Interlock-bucket", limiters, STEADY),
                permits("rate-prefetch-8t", 8, "Interlock-prefetch", List.of("RRateLimiter"), BRISK));
    }

    /** The same locks without anybody who looks, and with an operator, a recording of their events, or meters. */
    private static Stream<Scenario> observed() {
        return Stream.of(
                observed("viewed-1jvm-8t", 8, "Interlock", "viewed"),
                observed("viewed-new-names-1t", 1, "Interlock-new-names", "viewed"),
                observed("recorded-1t", 1, "Interlock", "recorded"),
                observed("recorded-1jvm-8t", 8, "Interlock", "recorded"),
                observed("metered-retained-1t", 1, "Interlock-retaining", "metered"),
                observed("metered-1jvm-8t", 8, "Interlock", "metered"));
    }

    private static Scenario observed(String name, int threads, String lock, String how) {
        return scenario(Family.OBSERVED, name, Setting.of(1, threads), lock + "-" + how, List.of(lock), GLANCE, LONG);
    }

    private static Stream<Scenario> crowds() {
        return Stream.of(
                of(
                                Family.HELD,
                                "held-10000",
                                Setting.of(1, NAMES_HELD),
                                Measure.UPKEEP,
                                "Interlock",
                                List.of("RLock", "RFairLock", "RSpinLock"),
                                QUICK_WATCH,
                                WATCH)
                        .quickly("RLock"),
                of(
                        Family.WAITING,
                        "waiting-10000",
                        Setting.of(1, WAITING),
                        Measure.QUEUE,
                        "Interlock",
                        List.of("RLock"),
                        QUICK_QUEUE,
                        QUEUE),
                of(
                                Family.WAITING,
                                "waiting-100000-virtual",
                                Setting.of(1, WAITING_VIRTUALLY),
                                Measure.VIRTUAL_QUEUE,
                                "Interlock",
                                List.of("RLock"),
                                QUICK_QUEUE,
                                QUEUE)
                        .quickly());
    }

    private static Scenario turns(String name, String ours, List<String> peers) {
        return of(Family.TURNS, name, Setting.of(2, 1), Measure.SWITCHES, ours, peers, SMOKE, SLOW);
    }

    private static Scenario readers(String name, Setting setting, List<String> peers) {
        return scenario(Family.READERS, name, setting, "Interlock-rw", peers, SMOKE, BRISK);
    }

    private static Scenario semaphore(String name, Setting setting) {
        return scenario(Family.SEMAPHORES, name, setting, "Interlock-semaphore", List.of("RSemaphore"), SMOKE, BRISK);
    }

    private static Scenario permits(String name, int threads, String ours, List<String> peers, Pace full) {
        return of(Family.RATES, name, Setting.of(1, threads), Measure.PERMITS, ours, peers, SMOKE, full);
    }

    private static Scenario scenario(
            Family family, String name, Setting setting, String ours, List<String> peers, Pace quick, Pace full) {
        return of(family, name, setting, Measure.SECTIONS, ours, peers, quick, full);
    }

    private static Scenario of(
            Family family,
            String name,
            Setting setting,
            Measure measure,
            String ours,
            List<String> peers,
            Pace quick,
            Pace full) {
        return new Scenario(name, family, setting, measure, ours, peers, peers, quick, full);
    }
}
