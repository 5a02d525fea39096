package dev.interlock.lock;

import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;

/** Runs the contract on the oracle: where it fails here, the contract is wrong. */
@DisplayName("java.util.concurrent.locks.ReentrantLock")
@Tag("proof")
class JdkReentrantLockTest {

    @Nested
    class Nonfair extends ConditionContract {
        @Override
        protected ReentrantLock newLock() {
            return new ReentrantLock();
        }
    }

    @Nested
    class Fair extends ConditionContract {
        @Override
        protected ReentrantLock newLock() {
            return new ReentrantLock(true);
        }

        @Override
        protected boolean fair() {
            return true;
        }
    }
}
