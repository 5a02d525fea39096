package dev.interlock.readwrite;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the oracle: where it fails here, the contract is wrong. */
@DisplayName("java.util.concurrent.locks.ReentrantReadWriteLock")
@Tag("proof")
class JdkReentrantReadWriteLockTest {

    /** Whose operations take microseconds. */
    private abstract static class OfJdk extends ReadWriteLockContract {
        @Override
        protected ReentrantReadWriteLock newLock() {
            return new ReentrantReadWriteLock(fair());
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
