package dev.interlock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MigrationIT {

    private static final Duration MAX = Duration.ofMinutes(3);

    /** Two JVMs that share the lock draw every number once. */
    @Test
    @Tag("proof")
    void noNumberIsDrawnTwiceAfterwards() {
        try (var migration = ChildJvm.start(Migration.class)) {
            assertThat(migration.waitFor(MAX)).isZero();
            assertThat(migration.lines()).last().asString().startsWith("after").endsWith("the last one is 2000");
        }
    }
}
