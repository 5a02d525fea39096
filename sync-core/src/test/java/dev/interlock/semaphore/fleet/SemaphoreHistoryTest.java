package dev.interlock.semaphore.fleet;

import static dev.interlock.testing.TooLate.assertWithin;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.Timely;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Rig;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many threads of several JVMs share a few permits, and want different numbers of them. */
@Timeout(value = 150, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Timely
class SemaphoreHistoryTest {

    private static final int JVMS = 4;
    private static final int THREADS = 8;
    private static final int PERMITS = 5;
    private static final int LEAST_SOAKED_STAYS = 50_000;
    private static final long STAYS_PER_SECOND_OF_SOAK = 500;

    /**
     * No wait may take longer. What a request waits for is the turns of some thirty others; most of it is scheduling.
     */
    private static final Duration BOUND = Duration.ofSeconds(10);

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

    /**
     * Never are more permits in use than there are, nobody starves whatever he wants, and all permits are there at the
     * end.
     */
    @Test
    @Tag("proof")
    void permitsInUseAreNeverMoreThanThereAre() throws IOException {
        mix(Kind.PLAIN, 3_000);
    }

    /** The same for longer. */
    @ParameterizedTest
    @EnumSource
    @Tag("soak")
    void soak(Kind kind) throws IOException {
        long stays = STAYS_PER_SECOND_OF_SOAK * Long.getLong("interlock.soak.seconds", 120);
        mix(kind, Math.toIntExact(kind == Kind.PLAIN ? Math.max(LEAST_SOAKED_STAYS, stays) : stays));
    }

    private void mix(Kind kind, int stays) throws IOException {
        int each = (stays + JVMS * THREADS - 1) / (JVMS * THREADS);
        String name = rig.name("history-" + kind);
        try (Interlock interlock = Interlock.connect(rig.url())) {
            var semaphore = kind.of(interlock, name, PERMITS);
            List<Stay> history = run(kind, name, each);
            assertThat(history).hasSize(each * JVMS * THREADS);
            int most = Stay.assertNeverMoreThan(PERMITS, history);
            assertThat(most).as("most in use").isEqualTo(PERMITS);
            long longest = history.stream().mapToLong(Stay::waited).max().orElseThrow();
            assertWithin("the longest wait", BOUND, Duration.ofNanos(longest));
            assertThat(semaphore.availablePermits()).isEqualTo(PERMITS);
            assertThat(semaphore.drainPermits()).isEqualTo(PERMITS);
            semaphore.release(PERMITS);
        }
    }

    private List<Stay> run(Kind kind, String name, int each) throws IOException {
        List<Task> tasks = IntStream.range(0, JVMS)
                .mapToObj(jvm -> folder.resolve("stays-" + jvm))
                .map(file -> Task.of(SemaphoreWork.class, rig.url(), name, THREADS, file, kind, PERMITS)
                        .most(each))
                .toList();
        try (var hammers = Hammers.start(Stay.LOG, tasks)) {
            Duration ran = hammers.run(Duration.ZERO);
            List<Stay> stays = hammers.records();
            rig.report(kind + ": " + stays.size() + " stays in " + ran.toMillis() + " ms");
            for (int i = 1; i <= SemaphoreWork.MOST; i++) {
                int permits = i;
                var waits =
                        stays.stream().filter(stay -> stay.permits() == permits).mapToLong(Stay::waited);
                rig.report("waits for " + permits + ": " + Hammers.summary(waits));
            }
            return stays;
        }
    }
}
