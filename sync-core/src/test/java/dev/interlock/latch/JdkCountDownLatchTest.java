package dev.interlock.latch;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the oracle: where it fails here, the contract is wrong. */
@DisplayName("java.util.concurrent.CountDownLatch")
@Tag("proof")
class JdkCountDownLatchTest extends CountDownLatchContract {
    @Override
    protected CountDownLatch newLatch(int count) {
        return new CountDownLatch(count);
    }

    @Override
    protected Duration shortWait() {
        return Duration.ofMillis(20);
    }
}
