package dev.interlock.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.campaign.Judge.Complaint;
import dev.interlock.campaign.Step.Act;
import dev.interlock.campaign.Step.End;
import dev.interlock.testing.OtherVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three JVMs use all synchronizers at once, while JVMs, connections and Redis fail in waves. What everybody had is
 * checked afterwards; that everybody gets on, after each wave.
 */
class CampaignTest {
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    /** A campaign of every build. */
    private static final Duration SHORT = Duration.ofSeconds(12);

    @TempDir
    private Path folder;

    @Test
    void faultsOfAllKindsBreakNoPromise() throws IOException {
        run(1, SHORT);
    }

    @Test
    @Tag("proof")
    void faultsOfAllKindsBreakNoPromiseForLonger() throws IOException {
        run(2, SHORT.multipliedBy(3));
    }

    /** One of the JVMs has the last release, as in a fleet that is being updated. */
    @Test
    @Tag("proof")
    void faultsOfAllKindsBreakNoPromiseBesideTheLastRelease() throws IOException {
        run(3, SHORT.multipliedBy(3), Optional.of(OtherVersion.releasedJar()));
    }

    /** Five times the time of a soak test, with a seed that nobody has seen, or {@code -Dinterlock.campaign.seed}. */
    @Test
    @Tag("soak")
    @Timeout(value = 40, unit = TimeUnit.MINUTES)
    void faultsOfAllKindsBreakNoPromiseForLong() throws IOException {
        Duration length = Duration.ofSeconds(5 * Long.getLong("interlock.soak.seconds", 120));
        run(Long.getLong("interlock.campaign.seed", System.nanoTime()), length);
    }

    private void run(long seed, Duration length) throws IOException {
        run(seed, length, Optional.empty());
    }

    private void run(long seed, Duration length, Optional<Path> library) throws IOException {
        try (var camp = new Camp(folder, seed, library)) {
            List<Step> steps;
            try {
                long start = System.nanoTime();
                while (System.nanoTime() - start < length.toNanos()) {
                    camp.endure();
                }
                steps = camp.strike();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + "\n" + e.getMessage(), e);
            }
            var judge = new Judge(steps, camp.happenings(), camp.delays(), LONGEST_WAIT.toNanos());
            List<Complaint> complaints = judge.complaints(Worker.PERMITS, Camp.JVMS);
            System.out.println(table(seed, steps, camp, judge, complaints));
            assertThat(complaints.stream().limit(3).map(judge::story))
                    .as("seed %d: %d violations", seed, complaints.size())
                    .isEmpty();
            assertThat(done(steps)).as("steps done").containsOnlyKeys(Act.values());
            assertThat(judge.leaderChanges()).as("changes of the leader").isPositive();
            assertThat(leftForEver(camp)).as("keys that never expire").isEmpty();
        }
    }

    private static List<String> leftForEver(Camp camp) {
        return camp.server().ttlMillis().entrySet().stream()
                .filter(entry -> entry.getValue() == -1)
                .map(Map.Entry::getKey)
                .toList();
    }

    private static Map<Act, Long> done(List<Step> steps) {
        return steps.stream()
                .filter(step -> step.end() == End.DONE)
                .collect(Collectors.groupingBy(Step::act, () -> new EnumMap<>(Act.class), Collectors.counting()));
    }

    private static String table(long seed, List<Step> steps, Camp camp, Judge judge, List<Complaint> complaints) {
        var text = new StringBuilder("seed " + seed + "\n");
        for (Act act : Act.values()) {
            List<Step> those = steps.stream().filter(step -> step.act() == act).toList();
            String ends = Arrays.stream(End.values())
                    .map(end -> end.name().toLowerCase(Locale.ROOT) + " "
                            + those.stream().filter(step -> step.end() == end).count())
                    .collect(Collectors.joining(", "));
            text.append(String.format("%-32s %7d  (%s)%n", act, those.size(), ends));
        }
        camp.faults().forEach((fault, count) -> text.append(String.format("%-32s %7d%n", fault, count)));
        text.append(String.format(
                "%-32s %7d%n", "late answers of Redis", camp.delays().size()));
        text.append(String.format("%-32s %7d%n", "losses reported", camp.losses()));
        text.append(String.format("%-32s %7d%n", "stale writes refused", camp.refused()));
        text.append(String.format("%-32s %7d%n", "overlaps that a loss explains", judge.foreseen()));
        text.append(String.format("%-32s %7d%n", "waits judged for their order", judge.judgedInOrder()));
        text.append(String.format("%-32s %7d%n", "changes of the leader", judge.leaderChanges()));
        text.append(String.format("%-32s %7d%n", "violations", complaints.size()));
        return text.toString();
    }
}
