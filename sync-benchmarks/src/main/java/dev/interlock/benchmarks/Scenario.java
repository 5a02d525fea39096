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
 * @param writePercent how many of a hundred sections write, where the locks tell writers from readers
 * @param measure what is compared
 * @param ours the contestant that is ours here
 * @param peers the others
 * @param quick how long to play with {@code --quick}
 * @param full how long otherwise
 */
record Scenario(
        String name,
        int jvms,
        int threads,
        int writePercent,
        Measure measure,
        String ours,
        List<String> peers,
        Pace quick,
        Pace full) {

    /** What is compared. */
    enum Measure {
        /** Critical sections per second. */
        SECTIONS,
        /** The same, and how long threads waited for them. Reading the clock costs the fast more than the slow. */
        SECTIONS_AND_WAITS,
        /** Those sections per second that came after one of another JVM. Ours has to alternate between two of them. */
        HAND_OFFS,
        /** How often per second one of two JVMs hears from the other what it waits for. The peer is no lock, but a floor. */
        SWITCHES,
        /** Permits per second, from a bucket that is never empty. */
        PERMITS
    }

    private static final Pace FINE = new Pace(Duration.ofMillis(100), 24, 36);
    private static final Pace COARSE = new Pace(Duration.ofMillis(500), 2, 7);

    /** Where each JVM does little, it takes it long to compile what it does. */
    private static final Pace SLOW = new Pace(Duration.ofMillis(400), 16, 9);

    /** As {@link #FINE}, for scenarios that are played by three. */
    private static final Pace STEADY = new Pace(Duration.ofMillis(100), 12, 24);

    /** Where ratios are too large for anybody to care about their last digit. */
    private static final Pace BRISK = new Pace(Duration.ofMillis(250), 6, 7);

    static final List<Scenario> ALL = List.of(
            of("uncontended-1t", 1, 1, Measure.SECTIONS, FINE, "Interlock", "RLock"),
            of("uncontended-retained-1t", 1, 1, Measure.SECTIONS, COARSE, "Interlock-retaining", "RLock"),
            of("contended-1jvm-8t", 1, 8, Measure.SECTIONS, COARSE, "Interlock", "RLock"),
            of("contended-2jvm-4t", 2, 4, Measure.SECTIONS_AND_WAITS, COARSE, "Interlock", "RLock"),
            of("fair-1jvm-8t", 1, 8, Measure.SECTIONS, SLOW, "Interlock-fair", "RFairLock"),
            of("fair-handoff-2jvm-1t", 2, 1, Measure.HAND_OFFS, SLOW, "Interlock-fair", "RFairLock", "RLock"),
            of("condition-pingpong-2jvm", 2, 1, Measure.SWITCHES, SLOW, "Interlock-conditions", "pubsub-echo"),
            of("fair-4jvm-4t", 4, 4, Measure.SECTIONS, SLOW, "Interlock-fair", "RFairLock"),
            sharing("read-uncontended-1t", 1, 1, 0, BRISK),
            sharing("read-1jvm-8t", 1, 8, 0, BRISK),
            sharing("rw-90-10-2jvm-4t", 2, 4, 10, BRISK),
            of("semaphore-1jvm-8t-4p", 1, 8, Measure.SECTIONS, BRISK, "Interlock-semaphore", "RSemaphore"),
            of("semaphore-2jvm-4t-4p", 2, 4, Measure.SECTIONS, BRISK, "Interlock-semaphore", "RSemaphore"),
            of("latch-2jvm", 2, 1, Measure.SWITCHES, SLOW, "Interlock-latch", "pubsub-echo"),
            of("barrier-2jvm", 2, 1, Measure.SWITCHES, SLOW, "Interlock-barrier", "pubsub-echo"),
            of("rate-bucket-1t", 1, 1, Measure.PERMITS, STEADY, "Interlock-bucket", "RRateLimiter", "Bucket4j"),
            of("rate-bucket-8t", 1, 8, Measure.PERMITS, STEADY, "Interlock-bucket", "RRateLimiter", "Bucket4j"),
            of("rate-prefetch-8t", 1, 8, Measure.PERMITS, BRISK, "Interlock-prefetch", "RRateLimiter"));

    Scenario {
        peers = List.copyOf(peers);
    }

    private static Scenario of(
            String name, int jvms, int threads, Measure measure, Pace quick, String ours, String... peers) {
        return new Scenario(name, jvms, threads, 100, measure, ours, List.of(peers), quick, quick.times(3));
    }

    private static Scenario sharing(String name, int jvms, int threads, int writePercent, Pace quick) {
        List<String> peers = List.of("RReadWriteLock");
        return new Scenario(
                name, jvms, threads, writePercent, Measure.SECTIONS, "Interlock-rw", peers, quick, quick.times(3));
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
