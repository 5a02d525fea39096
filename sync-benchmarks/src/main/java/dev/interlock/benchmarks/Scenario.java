package dev.interlock.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * A situation in which ours is compared with its peers.
 *
 * @param name as it stands in the {@code SCORE} line
 * @param jvms one means the Scoreboard's own
 * @param threads per JVM
 * @param ours the contestant that is ours here
 * @param peers the others
 * @param quick how long to play with {@code --quick}
 * @param full how long otherwise
 */
record Scenario(String name, int jvms, int threads, String ours, List<String> peers, Pace quick, Pace full) {

    private static final Pace FINE = new Pace(Duration.ofMillis(100), 24, 36);
    private static final Pace COARSE = new Pace(Duration.ofMillis(500), 2, 7);

    static final List<Scenario> ALL = List.of(
            new Scenario("uncontended-1t", 1, 1, "Interlock", List.of("RLock"), FINE, FINE.times(3)),
            new Scenario("contended-1jvm-8t", 1, 8, "Interlock", List.of("RLock"), COARSE, COARSE.times(3)),
            new Scenario("contended-2jvm-4t", 2, 4, "Interlock", List.of("RLock"), COARSE, COARSE.times(3)));

    Scenario {
        peers = List.copyOf(peers);
    }

    /** Ours and the peers. */
    List<String> contestants() {
        return Stream.concat(Stream.of(ours), peers.stream()).toList();
    }

    /**
     * How a scenario is played. Loopback round trips change their speed from second to second: a scenario that consists of them wants
     * many short rounds. Under contention the locks need time to show their rhythm.
     *
     * @param round how long a contestant plays in one round
     * @param warmups rounds that don't count
     * @param rounds rounds that do
     */
    record Pace(Duration round, int warmups, int rounds) {

        Pace times(int factor) {
            return new Pace(round, warmups * factor, rounds * factor);
        }
    }
}
