package dev.interlock.examples.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.ChildJvm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SuccessionIT {
    private static final Duration MAX = Duration.ofMinutes(4);

    /** Leaders are killed, frozen and resign: another one follows, and nothing of an old one is accepted. */
    @Test
    @Tag("proof")
    void leadersFollowEachOther() {
        try (var succession = ChildJvm.start(Succession.class)) {
            assertThat(succession.waitFor(MAX))
                    .describedAs("%s", succession.lines())
                    .isZero();
            List<String> lines = succession.lines();
            assertThat(lines).hasSize(6);
            List<String[]> terms = lines.subList(1, 5).stream()
                    .map(line -> line.trim().split(" +", -1))
                    .toList();
            assertThat(terms).extracting(words -> words[7]).containsExactly("killed", "frozen", "resigned", "closed");
            assertThat(terms)
                    .extracting(words -> Long.parseLong(words[0]))
                    .doesNotHaveDuplicates()
                    .isSorted();
            assertThat(terms.subList(0, 3)).extracting(words -> words[2]).containsExactlyInAnyOrder("0", "1", "2");
            assertThat(terms.get(3)[2]).as("the leader that was frozen").isEqualTo(terms.get(1)[2]);
            assertThat(lines)
                    .last()
                    .asString()
                    .matches("SUCCESSION OK: \\d+ writes of leaders accepted, none of a leader that was deposed");
        }
    }
}
