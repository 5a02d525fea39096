package dev.interlock.lock.condition;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;

/** The same with a fair lock. */
@Tag("proof")
class FairConditionWaiterDiesTest extends WaiterDiesTest {
    FairConditionWaiterDiesTest(TestReporter reporter) {
        super(reporter);
    }

    @Override
    String kind() {
        return "fair";
    }
}
