package dev.interlock.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import dev.interlock.testing.TwoSessions;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;

/** Runs the contract on the distributed barrier; a second session brings the other parties. */
@DisplayName("DistributedCyclicBarrier")
class DistributedCyclicBarrierTest extends CyclicBarrierContract {
    private final TwoSessions sessions = underTest(TwoSessions.connected());
    private final RedisServer redis = sessions.redis();

    @Override
    protected CyclicBarrier newBarrier(int parties, @Nullable Runnable action) {
        return obtain(sessions.mine(), TwoSessions.nextName(), parties, action);
    }

    @Override
    protected Optional<CyclicBarrier> rivalOf(CyclicBarrier barrier, @Nullable Runnable action) {
        String name = ((DistributedCyclicBarrier) barrier).getName();
        return Optional.of(obtain(sessions.other(), name, barrier.getParties(), action));
    }

    private static DistributedCyclicBarrier obtain(
            Interlock session, String name, int parties, @Nullable Runnable action) {
        return action == null ? session.cyclicBarrier(name, parties) : session.cyclicBarrier(name, parties, action);
    }

    /** A barrier that nobody holds any more leaves nothing but marks. */
    @AfterAll
    void nothingIsLeftButMarks() {
        sessions.mine().close();
        sessions.other().close();
        assertThat(redis.ttlMillis()).allSatisfy((key, millis) -> {
            assertThat(key).containsPattern(":mark:[^:]*$");
            assertThat(millis).as(key).isPositive();
        });
    }
}
