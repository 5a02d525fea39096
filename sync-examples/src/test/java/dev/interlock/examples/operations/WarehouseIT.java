package dev.interlock.examples.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.interlock.examples.ratelimit.HeadlessChromium;
import dev.interlock.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WarehouseIT {

    private static final Duration MAX = Duration.ofMinutes(4);
    private static final Path PICTURE = Path.of("target", "operations-page.png");

    /** The pickers of three JVMs get into a deadlock, and out of it. The picture is that of docs/operations.md. */
    @Test
    @Tag("proof")
    void hasADeadlockThatComesAndGoes(@TempDir Path folder) throws IOException, InterruptedException {
        var browser = HeadlessChromium.installed();
        assumeTrue(browser.isPresent(), "no Chromium on the path");
        try (var warehouse = ChildJvm.of(Warehouse.class)
                .options("-Dserver.port=0", "-XX:TieredStopAtLevel=1")
                .start()) {
            String url = warehouse.await("SERVING at ", MAX).replaceAll("SERVING at (\\S+),.*", "$1");
            try (var page = browser.orElseThrow().live(url, folder)) {
                page.look(1000, 1330, false);
                Awaitility.await()
                        .atMost(MAX)
                        .untilAsserted(() -> assertThat(page.texts("#deadlocks svg .thread"))
                                .hasSize(3)
                                .allMatch(thread -> thread.contains("picker ")));
                page.picture(PICTURE);
                Awaitility.await()
                        .atMost(MAX)
                        .until(() -> page.texts("#deadlocks").isEmpty());
            }
        }
    }
}
