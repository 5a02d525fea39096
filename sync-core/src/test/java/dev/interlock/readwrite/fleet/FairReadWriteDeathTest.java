package dev.interlock.readwrite.fleet;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestReporter;

/** The same with fair locks. */
@Tag("proof")
class FairReadWriteDeathTest extends ReadWriteDeathTest {

    FairReadWriteDeathTest(TestReporter reporter) {
        super(reporter);
    }

    @Override
    String kind() {
        return "fair";
    }
}
