package dev.interlock.latch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.testing.Deviation;
import dev.interlock.testing.TwoSessions;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.redisson.api.RCountDownLatch;

/**
 * Runs the contract on an adapted latch. Redisson's own objects count for two sessions, each with a client of its own.
 */
@DisplayName("an adapted RCountDownLatch")
class AdaptedCountDownLatchTest extends CountDownLatchContract {
    private final TwoSessions sessions = underTest(TwoSessions.usingClients());

    @Override
    protected CountDownLatch newLatch(int count) {
        RCountDownLatch counted = sessions.myClient().getCountDownLatch(TwoSessions.nextName());
        if (count > 0) {
            counted.trySetCount(count);
        }
        return sessions.rivals(
                sessions.mine().adapt(counted),
                sessions.other().adapt(sessions.otherClient().getCountDownLatch(counted.getName())));
    }

    @Override
    protected Set<Deviation> deviations() {
        return EnumSet.of(Deviation.TO_STRING_LAGS);
    }

    @Test
    @DisplayName("a count that nobody has asked for reads as unknown, not as that of an open latch")
    void countIsUnknownUntilItIsHeardOf() {
        CountDownLatch latch = newLatch(2);
        assertThat(latch.toString()).endsWith("[Count = unknown]");
        assertThat(latch.getCount()).isEqualTo(2);
        assertThat(latch.toString()).endsWith("[Count = 2]");
    }
}
