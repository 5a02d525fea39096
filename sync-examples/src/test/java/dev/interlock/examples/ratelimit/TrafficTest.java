package dev.interlock.examples.ratelimit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.examples.ratelimit.Traffic.Series;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TrafficTest {

    /** A clock may begin anywhere, below zero too. */
    private long seconds = -30;

    private final Traffic traffic = new Traffic(() -> TimeUnit.SECONDS.toNanos(seconds));

    private static int sum(Iterable<Integer> counts) {
        int sum = 0;
        for (int count : counts) {
            sum += count;
        }
        return sum;
    }

    @Test
    void countsBySecond() {
        traffic.count("lua", "alice", true);
        traffic.count("lua", "alice", true);
        seconds += 2;
        traffic.count("lua", "alice", false);
        seconds += 1;
        Series alice = traffic.series().get(0);
        assertThat(alice.admitted()).hasSize(Traffic.SECONDS).endsWith(2, 0, 0, 0);
        assertThat(alice.refused()).hasSize(Traffic.SECONDS).endsWith(0, 0, 1, 0);
        assertThat(sum(alice.admitted())).isEqualTo(2);
        assertThat(sum(alice.refused())).isEqualTo(1);
    }

    /** What is older than a minute doesn't count again when its place in the ring comes round. */
    @Test
    void forgetsAfterAMinute() {
        traffic.count("lua", "alice", true);
        seconds += Traffic.SECONDS - 1;
        assertThat(traffic.series().get(0).admitted()).startsWith(1);
        seconds += 1;
        assertThat(traffic.series()).isEmpty();
        traffic.count("lua", "alice", true);
        seconds += 3 * Traffic.SECONDS + 5;
        traffic.count("lua", "alice", true);
        assertThat(sum(traffic.series().get(0).admitted())).isEqualTo(1);
    }

    @Test
    void countsInEachSecondForALongTime() {
        for (int i = 0; i < 3 * Traffic.SECONDS; i++, seconds++) {
            traffic.count("lua", "alice", true);
        }
        seconds--;
        assertThat(traffic.series().get(0).admitted()).isEqualTo(Collections.nCopies(Traffic.SECONDS, 1));
    }

    /** Strangers choose the keys: they mustn't fill the memory. */
    @Test
    void keepsTheLatestKeys() {
        traffic.count("lua", "old", true);
        traffic.count("lua", "known", true);
        IntStream.range(0, Traffic.MOST_KEYS - 1).forEach(i -> {
            traffic.count("lua", "stranger " + i, true);
            traffic.count("lua", "known", true);
        });
        assertThat(traffic.series())
                .hasSize(Traffic.MOST_KEYS)
                .extracting(Series::key)
                .contains("known")
                .doesNotContain("old");
    }

    @Test
    void tellsPoliciesApart() {
        traffic.count("lua", "alice", true);
        traffic.count("bucket", "alice", false);
        assertThat(traffic.series()).extracting(Series::policy).containsExactly("bucket", "lua");
    }
}
