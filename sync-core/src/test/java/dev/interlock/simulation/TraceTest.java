package dev.interlock.simulation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A seed has one trace, in every JVM: else what it has found couldn't be found again. */
@Tag("proof")
class TraceTest {
    /** There are two, three and four permits or parties in their plans. */
    private static final List<Long> SEEDS = List.of(10L, 17L, 24L);

    /**
     * Another order of whatever is kept by an object's own hash code, or by its name in another language; processors
     * are fewer, and what is used first is used last.
     */
    private static final List<String> DIFFERENT = List.of(
            "-XX:+UnlockExperimentalVMOptions",
            "-XX:hashCode=2",
            "-XX:ActiveProcessorCount=1",
            "-XX:TieredStopAtLevel=1",
            "-Duser.language=ar",
            "-Duser.country=EG",
            "-Dfile.encoding=ISO-8859-1");

    private record Seed(Kind kind, long number) {
        static List<Seed> all() {
            List<Seed> all = new ArrayList<>();
            for (Kind kind : Kind.values()) {
                SEEDS.forEach(number -> all.add(new Seed(kind, number)));
            }
            return all;
        }

        String trace() {
            Simulation.Outcome outcome = Simulation.run(Plan.of(number, Focus.NONE.among(kind)), true);
            return outcome.trace() + Long.toHexString(outcome.draws());
        }
    }

    /** Writes the traces into a folder. */
    static final class Writer {
        private Writer() {}

        public static void main(String[] arguments) throws IOException {
            List<Seed> backwards = new ArrayList<>(Seed.all());
            Collections.reverse(backwards);
            for (Seed seed : backwards) {
                Files.writeString(Path.of(arguments[0], seed.toString()), seed.trace());
            }
        }
    }

    /**
     * The order in which the witness of semaphores looked at them was that of their identity hash codes, and it read
     * the clock of each as a thread of the library does, which others may interrupt.
     */
    @Test
    void theSameSeedHasTheSameTraceInEveryJvm(@TempDir Path folder) {
        List<Seed> seeds = Seed.all();
        try (ChildJvm other = ChildJvm.of(Writer.class)
                .options(DIFFERENT)
                .arguments(folder.toString())
                .start()) {
            List<String> traces = seeds.stream().map(Seed::trace).toList();
            assertThat(other.waitFor(Duration.ofMinutes(5))).isZero();
            for (int i = 0; i < seeds.size(); i++) {
                assertThat(folder.resolve(seeds.get(i).toString()))
                        .usingCharset(UTF_8)
                        .hasContent(traces.get(i));
            }
        }
    }
}
