package dev.interlock.ratelimit.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Rig;
import dev.interlock.testing.rig.Task;
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
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Several JVMs whose clocks are wrong want far more permits than there are. */
class RateHistoryTest {

    private static final List<Skew> SKEWS = List.of(Skew.AHEAD, Skew.BEHIND, Skew.OVERFLOWING, Skew.FAST);
    private static final int JVMS = SKEWS.size();

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

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
        String name = rig.name("history");
        Map<Kind, List<Call>> calls = new EnumMap<>(Kind.class);
        Duration time = Duration.ofSeconds(seconds);
        List<Task> tasks = SKEWS.stream()
                .map(skew -> RateWork.task(rig.url(), name, folder.resolve("calls-" + skew.startNanos()), skew, time))
                .toList();
        try (var hammers = Hammers.start(Call.LOG, tasks)) {
            hammers.go();
            hammers.awaitDone(Hammers.PATIENCE.plus(time));
            hammers.stop();
            hammers.records()
                    .forEach(call -> calls.computeIfAbsent(call.getKey(), any -> new ArrayList<>())
                            .add(call.getValue()));
        }
        SoftAssertions.assertSoftly(soft ->
                calls.forEach((kind, all) -> soft.assertThatCode(() -> judge(kind, new Admissions(kind.limit(), all)))
                        .as("%s", kind)
                        .doesNotThrowAnyException()));
    }

    private void judge(Kind kind, Admissions admissions) {
        admissions.assertContended(JVMS);
        double share = admissions.share();
        long ahead = SKEWS.stream()
                .mapToLong(skew -> skew.ahead(kind))
                .filter(n -> n > 1)
                .sum();
        String most = admissions.assertNoStretchHasMore(ahead) + " in a stretch as long as a window";
        if (kind == Kind.FIXED) {
            admissions.assertEachPermitOfAWindowIsGivenOnce();
            admissions.assertNobodyIsRefusedWhatIsThere();
        }
        rig.report(String.format(
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
