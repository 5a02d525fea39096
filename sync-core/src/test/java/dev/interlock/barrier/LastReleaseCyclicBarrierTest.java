package dev.interlock.barrier;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.testing.OtherVersion;
import dev.interlock.testing.TwoSessions;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the barrier; a session of the last release brings the other parties. */
@DisplayName("DistributedCyclicBarrier beside the last release")
@Tag("proof")
class LastReleaseCyclicBarrierTest extends CyclicBarrierContract {
    private final TwoSessions sessions = underTest(TwoSessions.connected());
    private final OtherVersion other = OtherVersion.released(sessions.redis().url());

    @Override
    protected CyclicBarrier newBarrier(int parties, @Nullable Runnable action) {
        String name = TwoSessions.nextName();
        return action == null
                ? sessions.mine().cyclicBarrier(name, parties)
                : sessions.mine().cyclicBarrier(name, parties, action);
    }

    @Override
    protected Optional<CyclicBarrier> rivalOf(CyclicBarrier barrier, @Nullable Runnable action) {
        String name = ((DistributedCyclicBarrier) barrier).getName();
        return Optional.of(other.cyclicBarrier(name, barrier.getParties(), action));
    }

    @AfterAll
    void close() {
        other.close();
    }
}
