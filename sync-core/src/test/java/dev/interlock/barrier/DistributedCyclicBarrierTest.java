package dev.interlock.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import dev.interlock.DistributedCyclicBarrier;
import dev.interlock.Interlock;
import dev.interlock.testing.RedisServer;
import java.util.Optional;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DisplayName;

/** Runs the contract on the distributed barrier; a second session brings the other parties. */
@DisplayName("DistributedCyclicBarrier")
class DistributedCyclicBarrierTest extends CyclicBarrierContract {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final RedisServer redis = RedisServer.launch();
    private final Interlock mine = Interlock.connect(redis.url());
    private final Interlock other = Interlock.connect(redis.url());

    @Override
    protected CyclicBarrier newBarrier(int parties, @Nullable Runnable action) {
        return obtain(mine, "contract:" + NAMES.incrementAndGet(), parties, action);
    }

    @Override
    protected Optional<CyclicBarrier> rivalOf(CyclicBarrier barrier, @Nullable Runnable action) {
        String name = ((DistributedCyclicBarrier) barrier).getName();
        return Optional.of(obtain(other, name, barrier.getParties(), action));
    }

    private static DistributedCyclicBarrier obtain(
            Interlock session, String name, int parties, @Nullable Runnable action) {
        return action == null ? session.cyclicBarrier(name, parties) : session.cyclicBarrier(name, parties, action);
    }

    /** A barrier that nobody holds any more leaves nothing but marks. */
    @AfterAll
    void nothingIsLeftButMarks() {
        mine.close();
        other.close();
        assertThat(redis.keys())
                .allSatisfy(key -> assertThat(key).containsPattern(":mark:[^:]*$"))
                .allSatisfy(key -> assertThat((Long) redis.command("PTTL", key)).isPositive());
        redis.close();
    }
}
