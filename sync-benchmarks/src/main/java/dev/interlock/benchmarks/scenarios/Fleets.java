package dev.interlock.benchmarks.scenarios;

import dev.interlock.benchmarks.report.Family;
import dev.interlock.benchmarks.scenarios.Scenario.Measure;
import dev.interlock.benchmarks.scenarios.Scenario.Pace;
import dev.interlock.benchmarks.scenarios.Scenario.Setting;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Scenarios of many sessions, and how the cost of a turn grows with those who want one name. */
final class Fleets {

    private static final int THREADS_OF_A_SESSION = 5;

    /** A round ends late, since many give up then. */
    private static final Pace FLEET = Pace.of(1_200, 1, 3);

    private static final Pace FEWER = Pace.of(700, 2, 4);

    /** The first of them, in JVMs that have compiled nothing yet. */
    private static final Pace COLD = Pace.of(700, 10, 4);

    private static final Pace QUICK = Pace.of(300, 0, 1);

    private static final List<String> PLAIN = List.of("Interlock", "RLock");
    private static final List<String> FAIR = List.of("Interlock-fair", "RFairLock");
    private static final List<String> FAIR_OR_NOT = List.of("Interlock-fair", "RFairLock", "RLock");

    private Fleets() {}

    static Stream<Scenario> all() {
        return Stream.of(waiters(), sessions(), fleets()).flatMap(scenarios -> scenarios);
    }

    /** Two hundred sessions, a hundred in each JVM. */
    private static Stream<Scenario> fleets() {
        return IntStream.of(1, 100, 10_000)
                .boxed()
                .flatMap(names -> Stream.of(
                        sessions(Family.FLEETS, "fleet-200-" + names + "n", 2, 100, names, PLAIN),
                        sessions(Family.FLEETS, "fleet-200-fair-" + names + "n", 2, 100, names, FAIR_OR_NOT)));
    }

    /** Sessions that want one name; those of the fleets go on where these end. */
    private static Stream<Scenario> sessions() {
        return IntStream.of(1, 10, 50).boxed().flatMap(count -> {
            int jvms = count == 1 ? 1 : 2;
            return Stream.of(
                    sessions(Family.GROWTH, "growth-sessions-" + count, jvms, count / jvms, 1, PLAIN),
                    sessions(Family.GROWTH, "growth-sessions-fair-" + count, jvms, count / jvms, 1, FAIR));
        });
    }

    /** Threads of two sessions that want one name. */
    private static Stream<Scenario> waiters() {
        return IntStream.of(10, 100, 1_000)
                .mapToObj(count -> scenario(
                        Family.GROWTH,
                        count == 10 ? COLD : FEWER,
                        "growth-waiters-" + count,
                        Setting.of(2, count / 2),
                        "-1s-1n",
                        FAIR_OR_NOT));
    }

    private static Scenario sessions(
            Family family, String name, int jvms, int sessions, int names, List<String> contestants) {
        return scenario(
                family,
                family == Family.FLEETS ? FLEET : FEWER,
                name,
                Setting.of(jvms, sessions * THREADS_OF_A_SESSION),
                "-" + sessions + "s-" + names + "n",
                contestants);
    }

    private static Scenario scenario(
            Family family, Pace pace, String name, Setting setting, String suffix, List<String> contestants) {
        List<String> all =
                contestants.stream().map(contestant -> contestant + suffix).toList();
        List<String> peers = all.subList(1, all.size());
        return new Scenario(name, family, setting, Measure.UNTIMED_SECTIONS, all.get(0), peers, peers, QUICK, pace);
    }
}
