package dev.interlock.lock.condition;

import org.junit.jupiter.api.Tag;

/** The same with a fair lock. */
@Tag("proof")
class FairConditionWaiterDiesTest extends WaiterDiesTest {
    @Override
    String kind() {
        return "fair";
    }
}
