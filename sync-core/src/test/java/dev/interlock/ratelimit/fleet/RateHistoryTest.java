package dev.interlock.ratelimit.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.ratelimit.RateLimit.Algorithm;
import dev.interlock.ratelimit.fleet.RateHammer.Task;
import dev.interlock.testing.ChildJvm;
import dev.interlock.testing.Fleet;
import dev.interlock.testing.Keyspace;
import dev.interlock.testing.RedisServer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Several JVMs whose clocks are wrong want far more permits than there are. */
class RateHistoryTest {

    private static final List<Skew> SKEWS = List.of(Skew.AHEAD, Skew.BEHIND, Skew.OVERFLOWING, Skew.FAST);
    private static final int JVMS = SKEWS.size();
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final TestReporter reporter;

    @RegisterExtension
    final Keyspace keyspace = Keyspace.in(RedisServer.provided());

    @TempDir
    private Path folder;

    RateHistoryTest(TestReporter reporter) {
        this.reporter = reporter;
    }

    /** Never is more admitted than a limit allows, and hardly ever less. */
    @Test
    void noMoreIsAdmittedThanTheLimitAndHardlyLess() throws IOException {
        hammer(3);
    }

    /** The same for longer. */
    @Test
    @Tag("soak")
    void soak() throws IOException {
        hammer(Math.max(20, Long.getLong("interlock.soak.seconds", 20)));
    }

    private void hammer(long seconds) throws IOException {
        List<Task> tasks = new ArrayList<>();
        for (int jvm = 0; jvm < JVMS; jvm++) {
            tasks.add(new Task(SKEWS.get(jvm), seconds, folder.resolve("calls-" + jvm)));
        }
        String name = keyspace.name("history");
        String url = keyspace.server().url();
        WallClock before;
        try (Fleet fleet = Fleet.start(JVMS, jvm -> RateHammer.of(url, name, tasks.get(jvm)))) {
            fleet.awaitAll("READY", PATIENCE);
            before = WallClock.look();
            fleet.send("go");
            fleet.awaitAll("DONE", PATIENCE.plusSeconds(seconds));
            for (ChildJvm child : fleet) {
                assertThat(child.waitFor(PATIENCE)).isZero();
            }
        }
        WallClock wall = before.and(WallClock.look());
        Map<Kind, List<Call>> calls = new EnumMap<>(Kind.class);
        for (int jvm = 0; jvm < JVMS; jvm++) {
            Call.read(jvm, tasks.get(jvm).file())
                    .forEach((kind, some) -> calls.computeIfAbsent(kind, any -> new ArrayList<>())
                            .addAll(some));
        }
        SoftAssertions.assertSoftly(soft -> calls.forEach((kind, all) -> soft.assertThatCode(
                        () -> judge(kind, new Admissions(kind.limit(), all), tasks, wall))
                .as("%s", kind)
                .doesNotThrowAnyException()));
    }

    private void judge(Kind kind, Admissions admissions, List<Task> tasks, WallClock wall) {
        String most = "";
        admissions.assertContended(JVMS);
        double share = admissions.share(wall);
        long ahead = tasks.stream()
                .mapToLong(task -> task.ahead(kind))
                .filter(n -> n > 1)
                .sum();
        most += admissions.assertNoStretchHasMore(ahead) + " in a stretch as long as a window";
        if (kind == Kind.FIXED) {
            admissions.assertEachPermitOfAWindowIsGivenOnce();
            admissions.assertNobodyIsRefusedWhatIsThere();
        }
        if (kind.limit().algorithm() == Algorithm.SLIDING_WINDOW) {
            most += ", " + admissions.assertAlignedWindowsHaveNoMore(wall) + " in a window";
        }
        reporter.publishEntry(String.format(
                Locale.ROOT,
                "%s, %s: %d admitted, %.2f %% of the limit; at most %s; %d refused",
                kind,
                kind.limit(),
                admissions.total(),
                100 * share,
                most,
                admissions.refused()));
        assertThat(share).as("part of the limit that was admitted").isGreaterThanOrEqualTo(kind.share());
    }
}
