package dev.interlock.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** One line for each subject in ten seconds, with the number of those that were left out. */
class RareLogTest {
    private final AtomicLong seconds = new AtomicLong();
    private final RareLog rare = new RareLog(() -> TimeUnit.SECONDS.toNanos(seconds.get()));
    private final List<String> lines = new ArrayList<>();

    private boolean say(String subject) {
        return rare.say(subject, often -> lines.add(subject + often));
    }

    @Test
    void theFirstLineOfEachSubjectIsWritten() {
        assertThat(say("a")).isTrue();
        assertThat(say("b")).isTrue();
        assertThat(lines).containsExactly("a", "b");
    }

    @Test
    void whatFollowsIsCounted() {
        for (int i = 0; i < 10; i++) {
            say("a");
            seconds.incrementAndGet();
        }
        assertThat(say("a")).isTrue();
        assertThat(say("a")).isFalse();
        seconds.addAndGet(10);
        say("a");
        assertThat(lines)
                .containsExactly(
                        "a", "a (and 9 times since it was last said)", "a (and 1 times since it was last said)");
    }

    @Test
    void manySubjectsTakeNoRoom() {
        for (int i = 0; i < 100_000; i++) {
            say("subject " + i);
        }
        assertThat(lines).hasSize(100_000);
    }
}
