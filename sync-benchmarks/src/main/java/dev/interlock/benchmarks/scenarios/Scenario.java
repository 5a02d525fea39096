package dev.interlock.benchmarks.scenarios;

import dev.interlock.benchmarks.contestants.Ledger.Timing;
import dev.interlock.benchmarks.report.Family;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A situation in which ours is compared with its peers.
 *
 * @param name as it stands in the {@code SCORE} line
 * @param family with which it is told
 * @param setting where it takes place
 * @param measure what is compared
 * @param ours the contestant that is ours here
 * @param peers the others
 * @param quickPeers those of them that play with {@code --quick}, too
 * @param quick how long to play with {@code --quick}
 * @param full how long otherwise
 */
public record Scenario(
        String name,
        Family family,
        Setting setting,
        Measure measure,
        String ours,
        List<String> peers,
        List<String> quickPeers,
        Pace quick,
        Pace full) {

    /** What is compared. */
    public enum Measure {
        /**
         * Critical sections per second; how long they take is timed in rounds of their own, since that costs the fast
         * more than the slow.
         */
        SECTIONS,
        /** The same, and nothing is timed. */
        UNTIMED_SECTIONS,
        /** The same, and how long threads waited for them in the same rounds. */
        SECTIONS_AND_WAITS,
        /** Those sections per second that came after one of another JVM. Ours has to alternate between two of them. */
        HAND_OFFS,
        /**
         * From the release in one JVM to the entry in another that waits. Per second: if hand-offs followed each other
         * at the median.
         */
        HAND_OFF_LATENCY,
        /**
         * How often per second one of two JVMs hears from the other what it waits for. The peer is no lock, but a
         * floor.
         */
        SWITCHES,
        /** Permits per second, from a bucket that is never empty. */
        PERMITS,
        /** What it takes to hold many names at once. */
        UPKEEP,
        /** How fast many threads that wait for one lock have all had it. */
        QUEUE,
        /** The same of virtual threads, in a JVM that has them. */
        VIRTUAL_QUEUE;

        /** What is timed in the rounds that count. */
        public Timing timing() {
            return switch (this) {
                case SECTIONS_AND_WAITS -> Timing.WAITS;
                case HAND_OFF_LATENCY -> Timing.HAND_OFFS;
                case HAND_OFFS -> Timing.TURNS;
                default -> Timing.NOTHING;
            };
        }
    }

    /**
     * Where a scenario takes place.
     *
     * @param jvms one means the Scoreboard's own
     * @param threads per JVM
     * @param writePercent how many of a hundred sections write, where the locks tell writers from readers
     * @param sectionMicros how long a thread stays in a section
     * @param thinkMicros how long it parks after each section
     * @param delayMicros what the network adds to each round trip
     * @param isCounting whether a section adds to a number in a file, instead of staying
     */
    public record Setting(
            int jvms,
            int threads,
            int writePercent,
            long sectionMicros,
            long thinkMicros,
            long delayMicros,
            boolean isCounting) {

        /** An empty section, every one of which writes, and no delay. */
        public static Setting of(int jvms, int threads) {
            return new Setting(jvms, threads, 100, 0, 0, 0, false);
        }

        /** The same with so many writers. */
        public Setting writing(int percent) {
            return new Setting(jvms, threads, percent, sectionMicros, thinkMicros, delayMicros, isCounting);
        }

        /** The same with a longer section. */
        public Setting staying(long micros) {
            return new Setting(jvms, threads, writePercent, micros, thinkMicros, delayMicros, isCounting);
        }

        /** The same with a pause after each section. */
        public Setting thinking(long micros) {
            return new Setting(jvms, threads, writePercent, sectionMicros, micros, delayMicros, isCounting);
        }

        /** The same with sections that add to a number in a file. */
        public Setting counting() {
            return new Setting(jvms, threads, writePercent, sectionMicros, thinkMicros, delayMicros, true);
        }

        Setting delayed(long micros) {
            return new Setting(jvms, threads, writePercent, sectionMicros, thinkMicros, micros, isCounting);
        }

        /** Whether there is anybody to wait for. */
        public boolean isCrowded() {
            return jvms * threads > 1;
        }
    }

    public Scenario {
        peers = List.copyOf(peers);
        quickPeers = List.copyOf(quickPeers);
    }

    /** The same, with fewer peers where time is short. */
    Scenario quickly(String... fewer) {
        return new Scenario(name, family, setting, measure, ours, peers, List.of(fewer), quick, full);
    }

    /** Whether it takes a fleet that a quick run has no time to open, unless it is asked for. */
    public boolean isLarge() {
        return family == Family.FLEETS || family == Family.GROWTH;
    }

    /** How many, one being that of the Scoreboard. */
    public int jvms() {
        return setting.jvms();
    }

    /** How many, per JVM. */
    public int threads() {
        return setting.threads();
    }

    /** Ours and the peers. */
    public List<String> contestants() {
        return Stream.concat(Stream.of(ours), peers.stream()).toList();
    }

    /** The same with those peers alone that can be had, and that there is time for. */
    public Scenario cast(boolean isQuick, Predicate<String> isPresent) {
        List<String> present =
                (isQuick ? quickPeers : peers).stream().filter(isPresent).toList();
        return new Scenario(name, family, setting, measure, ours, present, present, quick, full);
    }

    /** How it is played when time is short, or isn't. */
    public Pace pace(boolean isQuick) {
        return isQuick ? quick : full;
    }

    /**
     * How a scenario is played. Loopback round trips change their speed from second to second: a scenario that consists
     * of them wants many short rounds. Under contention the locks need time to show their rhythm.
     *
     * @param round how long a contestant plays in one round
     * @param warmups rounds that don't count
     * @param rounds rounds that do
     */
    public record Pace(Duration round, int warmups, int rounds) {

        static Pace of(long roundMillis, int warmups, int rounds) {
            return new Pace(Duration.ofMillis(roundMillis), warmups, rounds);
        }

        /** Further rounds in which single operations are timed, for what doesn't time them anyway. */
        public int timedRounds() {
            return (rounds + 2) / 3;
        }
    }
}
