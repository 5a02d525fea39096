package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class HotShardsIT {

    private static final Duration MAX = Duration.ofMinutes(3);

    /** All updates are counted, and most of them cost no round trip. */
    @Test
    @Tag("proof")
    void retentionSavesRoundTrips() {
        try (var shards = ChildJvm.start(HotShards.class)) {
            assertThat(shards.waitFor(MAX)).describedAs("%s", shards.lines()).isZero();
            assertThat(shards.lines()).last().asString().startsWith("HOT SHARDS OK: ");
        }
    }
}
