package dev.interlock.barrier;

import java.util.concurrent.CyclicBarrier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the oracle: where it fails here, the contract is wrong. */
@DisplayName("java.util.concurrent.CyclicBarrier")
@Tag("proof")
class JdkCyclicBarrierTest extends CyclicBarrierContract {
    @Override
    protected CyclicBarrier newBarrier(int parties, @Nullable Runnable action) {
        return new CyclicBarrier(parties, action);
    }
}
