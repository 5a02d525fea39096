package dev.interlock.benchmarks.play;

import dev.interlock.benchmarks.contestants.Contestants;
import dev.interlock.benchmarks.contestants.Ledger;
import dev.interlock.benchmarks.report.Environment;
import dev.interlock.benchmarks.report.Measurement;
import dev.interlock.benchmarks.report.Results;
import dev.interlock.benchmarks.report.Threshold;
import dev.interlock.benchmarks.scenarios.Scenario;
import dev.interlock.benchmarks.scenarios.Scenario.Measure;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.benchmarks.scenarios.Scenarios;
import dev.interlock.benchmarks.servers.Addresses;
import dev.interlock.benchmarks.servers.Servers;
import dev.interlock.benchmarks.servers.Service;
import dev.interlock.benchmarks.servers.SlowWire;
import dev.interlock.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Plays scenarios one after the other, those who can't take part left out. */
public final class Tournament {

    /**
     * How it is played.
     *
     * @param program that asked for it
     * @param isQuick whether time is short
     * @param only scenarios whose name contains a match
     * @param peers those of them whose name contains a match
     * @param rounds as many instead, half as many to warm up; null for those of the scenario
     * @param millis as long per round instead; null for what the scenario says
     */
    public record Rules(
            String program,
            boolean isQuick,
            Pattern only,
            Pattern peers,
            @Nullable Integer rounds,
            @Nullable Integer millis) {

        /** The command that asked for them, but for where files go. */
        String command() {
            return program
                    + (isQuick ? " --quick" : "")
                    + (only.pattern().isEmpty() ? "" : " --only=" + only)
                    + (peers.pattern().isEmpty() ? "" : " --peers=" + peers)
                    + (rounds == null ? "" : " --rounds=" + rounds)
                    + (millis == null ? "" : " --millis=" + millis);
        }

        /** What is to be played. */
        public List<Scenario> scenarios() {
            return Scenarios.ALL.stream()
                    .filter(scenario -> only.matcher(scenario.name()).find())
                    .filter(scenario -> !isQuick || !only.pattern().isEmpty() || !scenario.isLarge())
                    .toList();
        }

        /** How long it should take: rounds, and what comes between them. */
        public Duration planned() {
            return scenarios().stream()
                    .map(scenario -> Plan.of(
                            scenario.cast(isQuick, peer -> peers.matcher(peer).find()), of(scenario), isQuick))
                    .reduce(Plan.starts(mostShared()), Duration::plus);
        }

        /** How many children scenarios share. */
        private int mostShared() {
            return scenarios().stream()
                    .filter(scenario -> scenario.isLarge() || (isQuick && scenario.jvms() > 1))
                    .mapToInt(Scenario::jvms)
                    .max()
                    .orElse(0);
        }

        Pace of(Scenario scenario) {
            Pace pace = scenario.pace(isQuick);
            return new Pace(
                    millis == null ? pace.round() : Duration.ofMillis(millis),
                    rounds == null ? pace.warmups() : (rounds + 1) / 2,
                    rounds == null ? pace.rounds() : rounds);
        }
    }

    private final Rules rules;
    private final Servers servers;
    private final Consumer<String> out;
    private final Consumer<String> progress;
    private final Map<String, String> absent = new TreeMap<>();
    private final List<Measurement> measurements = new ArrayList<>();
    private final List<Measurement> repeated = new ArrayList<>();
    private @Nullable Troupe troupe;

    /**
     * A tournament.
     *
     * @param rules how it is played
     * @param servers those of the peers
     * @param out hears the scores
     * @param progress hears everything else
     */
    public Tournament(Rules rules, Servers servers, Consumer<String> out, Consumer<String> progress) {
        this.rules = rules;
        this.servers = servers;
        this.out = out;
        this.progress = progress;
    }

    /**
     * Plays.
     *
     * @param after hears after each scenario what there is so far
     * @return all that was measured
     */
    public Results play(Consumer<Results> after) {
        RedisServer server = RedisServer.provided();
        Environment environment = Environment.of(server, rules.command());
        String origin = System.getenv("REDIS_URL") == null ? "started for this run" : "that of REDIS_URL";
        progress.accept(String.format(
                "%s, version %s, %s; load %.1f", server, environment.redis(), origin, environment.load()));
        try {
            for (Scenario scenario : rules.scenarios()) {
                measurements.addAll(play(scenario, server));
                after.accept(results(environment));
            }
            if (!rules.isQuick()) {
                repeat(server, environment, after);
            }
        } finally {
            if (troupe != null) {
                troupe.close();
            }
        }
        return results(environment);
    }

    // Once, whatever comes of it: who repeats until it fits measures nothing.
    private void repeat(RedisServer server, Environment environment, Consumer<Results> after) {
        Set<String> unclear = Threshold.unclear(results(environment));
        for (Scenario scenario : rules.scenarios()) {
            if (unclear.contains(scenario.name())) {
                progress.accept("Once more, since its rounds leave open what is asked for: " + scenario.name());
                repeated.addAll(play(scenario, server));
                after.accept(results(environment));
            }
        }
    }

    private List<Measurement> play(Scenario scenario, RedisServer server) {
        List<Measurement> played = played(scenario.cast(rules.isQuick(), this::isPresent), server);
        Score.of(played).forEach(score -> {
            out.accept(score.line());
            if (scenario.measure().timing() != Ledger.Timing.NOTHING) {
                score.waitLine().ifPresent(out);
            }
        });
        return played;
    }

    private Results results(Environment environment) {
        return Results.of(environment.with(servers.versions()), absent, measurements, repeated);
    }

    private boolean isPresent(String contestant) {
        if (!rules.peers().matcher(contestant).find()) {
            return false;
        }
        Optional<String> reason = Contestants.absence(contestant, servers);
        reason.ifPresent(why -> absent.put(contestant, why));
        return reason.isEmpty();
    }

    private List<Measurement> played(Scenario scenario, RedisServer server) {
        Optional<String> hindrance = hindrance(scenario, server);
        if (hindrance.isPresent()) {
            absent.put(scenario.name(), hindrance.get());
            return List.of();
        }
        Pace pace = rules.of(scenario);
        return switch (scenario.measure()) {
            case UPKEEP -> Holding.play(scenario, pace);
            case QUEUE, VIRTUAL_QUEUE ->
                Queueing.play(
                        scenario,
                        pace,
                        server.url(),
                        (contestant, remark) -> absent.put(contestant + " in " + scenario.name(), remark));
            default -> contested(scenario, pace, server);
        };
    }

    private static Optional<String> hindrance(Scenario scenario, RedisServer server) {
        return scenario.setting().delayMicros() == 0 ? Queueing.hindrance(scenario) : SlowWire.hindrance(server.url());
    }

    private List<Measurement> contested(Scenario scenario, Pace pace, RedisServer server) {
        if (scenario.setting().delayMicros() == 0) {
            return contested(scenario, pace, server, servers.addresses());
        }
        try (var wire = SlowWire.before(server.url(), scenario.setting().delayMicros())) {
            return contested(scenario, pace, server, servers.addresses().with(Service.REDIS, wire.url()));
        }
    }

    private List<Measurement> contested(Scenario scenario, Pace pace, RedisServer server, Addresses addresses) {
        try (Site site = site(scenario, addresses)) {
            return new Contest(scenario, site, Meter.of(server), progress).play(pace);
        }
    }

    // Each scenario in JVMs of its own, as far as there is time: what one has had compiled, the next one would profit
    // by. To open a fleet in JVMs that have compiled nothing yet takes too long.
    private Site site(Scenario scenario, Addresses addresses) {
        if (scenario.jvms() == 1 && !scenario.isLarge()) {
            return new Crew(addresses, Ledger.page(), Contestants::named);
        }
        return rules.isQuick() || scenario.isLarge()
                ? troupe().ensemble(scenario.jvms(), addresses)
                : Troupe.once(scenario.jvms(), addresses);
    }

    private Troupe troupe() {
        if (troupe == null) {
            troupe = Troupe.start(rules.mostShared());
        }
        return troupe;
    }

    /** What a scenario should take; the constants are what was seen on two cores, on the safe side. */
    private static final class Plan {

        private static final long SERVERS_MILLIS = 15_000;
        private static final long TURN_MILLIS = 35;
        private static final long LAST_OPERATION_MILLIS = 1;
        private static final long JVM_MILLIS = 2_000;
        private static final long CLIENT_MILLIS = 120;
        private static final long ORDER_MILLIS = 2_000;
        private static final long HOLD_MILLIS = 8_000;
        private static final long QUEUE_MILLIS = 6_000;

        private Plan() {}

        /** Of what is started once. */
        static Duration starts(int jvms) {
            return Duration.ofMillis(SERVERS_MILLIS + jvms * JVM_MILLIS);
        }

        static Duration of(Scenario scenario, Pace pace, boolean isQuick) {
            int contestants = scenario.contestants().size();
            long roundMillis = pace.round().toMillis();
            return Duration.ofMillis(
                    switch (scenario.measure()) {
                        case UPKEEP -> roundMillis + HOLD_MILLIS + contestants * JVM_MILLIS;
                        case QUEUE, VIRTUAL_QUEUE -> contestants * (roundMillis + QUEUE_MILLIS + JVM_MILLIS);
                        default -> starts(scenario, contestants, isQuick) + contestants * turns(scenario, pace);
                    });
        }

        private static long starts(Scenario scenario, int contestants, boolean isQuick) {
            long jvms = isQuick || scenario.jvms() == 1 ? 0 : scenario.jvms() * JVM_MILLIS;
            long order = scenario.measure() == Measure.HAND_OFFS ? ORDER_MILLIS : 0;
            return jvms + order + (long) scenario.jvms() * contestants * CLIENT_MILLIS;
        }

        private static long turns(Scenario scenario, Pace pace) {
            int turns =
                    pace.warmups() + pace.rounds() + (scenario.measure() == Measure.SECTIONS ? pace.timedRounds() : 0);
            // Each thread ends its last operation after the round, and they do so one after the other.
            long lastMillis = (long) scenario.jvms()
                    * scenario.threads()
                    * (LAST_OPERATION_MILLIS
                            + (scenario.setting().sectionMicros()
                                            + scenario.setting().delayMicros())
                                    / 1_000);
            return turns * (pace.round().toMillis() + TURN_MILLIS + lastMillis);
        }
    }
}
