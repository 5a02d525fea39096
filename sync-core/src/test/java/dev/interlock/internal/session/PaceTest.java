package dev.interlock.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How often a session asks about the names for whose locks it waits. */
class PaceTest {
    private static final int NAMES = 2_000;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Pace pace = new Pace(NAMES, 0);

    /** Beats once a second while the session waits for so many names. Returns what the interval is then, in seconds. */
    private long beat(int names, int times) {
        for (int i = 0; i < times; i++) {
            pace.beat(names);
        }
        return TimeUnit.MILLISECONDS.toSeconds(pace.heartbeatMillis()) / 3;
    }

    @Test
    void upToTheNumberANameIsAskedAboutEachSecond() {
        assertThat(beat(NAMES, 100)).isEqualTo(1);
        assertThat(pace.isDue(SECOND, SECOND)).isTrue();
        assertThat(pace.pollNanos()).isEqualTo(SECOND * 3 / 2);
    }

    @Test
    void theIntervalGrowsWithTheNumberOfNames() {
        assertThat(beat(5 * NAMES, 100)).isEqualTo(5);
        assertThat(beat(5 * NAMES + 1, 100)).isEqualTo(6);
    }

    @Test
    void theIntervalHasABound() {
        assertThat(beat(1_000_000, 100)).isEqualTo(10);
    }

    /** Before it has been asked about, Redis believes that this is going to be soon. */
    @Test
    void theIntervalDoublesAtMostOnceEachNameWasAskedAbout() {
        int many = 100 * NAMES;
        assertThat(beat(many, 1)).isEqualTo(2);
        assertThat(beat(many, 1)).isEqualTo(2);
        assertThat(beat(many, 1)).isEqualTo(4);
        assertThat(beat(many, 3)).isEqualTo(4);
        assertThat(beat(many, 1)).isEqualTo(8);
    }

    @Test
    void theIntervalShrinksAtOnce() {
        beat(5 * NAMES, 100);
        assertThat(beat(NAMES, 1)).isEqualTo(1);
    }

    @Test
    void aNameIsDueOnceInTheInterval() {
        beat(3 * NAMES, 100);
        long asked = 100 * SECOND;
        assertThat(pace.isDue(asked, asked + 2 * SECOND)).isFalse();
        assertThat(pace.isDue(asked, asked + 3 * SECOND - 1_000)).isTrue();
    }

    @Test
    void allNamesAreDueThatWereAskedAboutBeforeMessagesWereLost() {
        beat(5 * NAMES, 100);
        pace.messagesLost(10 * SECOND);
        assertThat(pace.isDue(10 * SECOND, 10 * SECOND)).isTrue();
        assertThat(pace.isDue(10 * SECOND + 1, 10 * SECOND + 1)).isFalse();
    }
}
