package dev.interlock.semaphore;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the oracle: where it fails here, the contract is wrong. */
@DisplayName("java.util.concurrent.Semaphore")
@Tag("proof")
class JdkSemaphoreTest {

    /** Whose operations take microseconds. */
    private abstract static class OfJdk extends SemaphoreContract {
        @Override
        protected Semaphore newSemaphore(int permits) {
            return new Semaphore(permits, fair());
        }

        @Override
        protected Duration shortWait() {
            return Duration.ofMillis(20);
        }
    }

    @Nested
    class Plain extends OfJdk {}

    @Nested
    class Fair extends OfJdk {
        @Override
        protected boolean fair() {
            return true;
        }
    }
}
