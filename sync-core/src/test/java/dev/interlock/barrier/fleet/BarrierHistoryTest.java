package dev.interlock.barrier.fleet;

import dev.interlock.testing.RedisServer;
import dev.interlock.testing.rig.Hammers;
import dev.interlock.testing.rig.Rig;
import dev.interlock.testing.rig.Task;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Many generations of several JVMs, none of which mixes with the next. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BarrierHistoryTest {
    private static final int JVMS = 3;
    private static final int THREADS = 4;

    @RegisterExtension
    final Rig rig = Rig.in(RedisServer.provided());

    @TempDir
    private Path folder;

    @Test
    @Tag("proof")
    void aThousandGenerationsDoNotMix() throws IOException {
        run(1_000);
    }

    @Test
    @Tag("soak")
    void soak() throws IOException {
        run(Math.toIntExact(100 * Long.getLong("interlock.soak.seconds", 120)));
    }

    private void run(int generations) throws IOException {
        String name = rig.name("history");
        int parties = JVMS * THREADS;
        List<Task> tasks = IntStream.range(0, JVMS)
                .mapToObj(jvm -> folder.resolve("visits-" + jvm))
                .map(file -> Task.of(BarrierWork.class, rig.url(), name, THREADS, file, parties)
                        .most(generations))
                .toList();
        List<Visit> history = new ArrayList<>();
        try (var hammers = Hammers.start(Visit.LOG, tasks)) {
            long millis = hammers.run(Duration.ZERO).toMillis();
            rig.report(generations + " generations of " + parties + " threads in " + millis + " ms");
            history.addAll(hammers.records());
        }
        for (Task task : tasks) {
            history.addAll(Visit.LOG.read(0, BarrierWork.actions(task.file()), 1));
        }
        Visit.assertGenerationsDoNotMix(history, parties, generations);
    }
}
